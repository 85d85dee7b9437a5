from surfaces.web import charts


def test_a_line_runs_from_the_left_edge_to_the_dot_of_now():
    drawn = charts.spark([0, 2, 4])
    assert drawn.line == "M0.0 22.0 L48.0 12.5 L96.0 3.0"
    assert (drawn.x, drawn.y) == ("96.0", "3.0")
    assert drawn.area.endswith("L96 24 L0 24 Z")


def test_a_line_of_nothing_lies_on_the_floor():
    assert charts.spark([0, 0]).line == "M0.0 22.0 L96.0 22.0"
    assert charts.spark([]).line == "M0.0 22.0 L96.0 22.0"


def test_a_single_hour_is_drawn_level():
    assert charts.spark([7]).line == "M0.0 3.0 L96.0 3.0"


def test_the_limit_stands_at_full_height_and_columns_keep_their_share():
    drawn = charts.columns([5, 10, 0], limit=10)
    assert [column.height for column in drawn.columns] == ["48.0", "96.0", "0.0"]
    assert drawn.limit == "28.0"
    assert [column.is_over for column in drawn.columns] == [False, False, False]


def test_a_column_over_the_limit_is_marked_and_pushes_the_limit_down():
    drawn = charts.columns([20, 1], limit=10)
    assert drawn.columns[0].is_over
    assert (drawn.columns[0].height, drawn.limit) == ("96.0", "76.0")


def test_the_smallest_sum_still_shows_a_hair():
    assert charts.columns([0.001, 100]).columns[0].height == "1.0"
    assert charts.columns([0.001, 100]).limit == ""


def test_columns_stay_within_the_width():
    last = charts.columns([1] * 14).columns[-1]
    assert float(last.x.rstrip("%")) + float(last.width.rstrip("%")) <= 100
    assert last.is_now
    assert [each.is_named for each in charts.columns([1] * 4).columns] == [False, True, False, True]


def test_a_bar_turns_amber_near_its_limit_and_red_at_it():
    assert charts.bar(1, 10).css == ""
    assert charts.bar(8, 10).css == "hi"
    assert charts.bar(10, 10).css == "over"
    assert charts.bar(25, 10).width == "100.0"


def test_a_budget_of_nothing_is_full_as_soon_as_something_is_spent():
    assert charts.bar(0, 0) == charts.Bar(length=0.0)
    assert charts.bar(1, 0) == charts.Bar(length=100.0, css="over")


def test_the_tick_of_the_pace_stays_on_the_bar():
    assert charts.bar(1, 2, pace=0.5).pace == "49.6"
    assert charts.bar(1, 2, pace=2).pace == "99.3"


def test_a_column_stands_on_its_base_and_says_its_share():
    drawn = charts.Column(at=0, of=12, share=0.5, base=80, full=48, least=1)
    assert (drawn.height, drawn.top, drawn.words_at, drawn.words) == ("24.0", "56.0", "52.0", "50")
    assert (drawn.left, drawn.right) == ("0.00%", "8.33%")
    none = charts.Column(at=11, of=12, share=None, base=80, full=48)
    assert (none.height, none.top, none.words) == ("0.0", "80.0", "–")


def test_words_stand_behind_a_bar():
    drawn = charts.Bar(length=62, start=20, y=22)
    assert (drawn.width, drawn.end, drawn.words_at) == ("62.0", "83.5", 32)
