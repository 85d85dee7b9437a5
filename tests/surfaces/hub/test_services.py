"""Living in the hub: what it refuses, what it says once, and what it counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from surfaces.errors import BadInput, NotAllowed
from surfaces.hub import queries as hub_queries
from surfaces.hub import services as hub_services
from surfaces.hub.services import HubNotFound, KeyTaken
from surfaces.models import HubAuthor, HubComment, HubPost
from tests.factories import NOON
from tests.surfaces.hub.factories import at_once, make_author, make_hub_post, say

pytestmark = pytest.mark.django_db


# ── joining ───────────────────────────────────────────────────────────────


def test_a_name_is_taken_however_it_is_written():
    make_author("Odile")
    with pytest.raises(BadInput, match="The name odile is taken"):
        make_author("odile")


@pytest.mark.parametrize("name", ["", " ", "a b", "-a", "a-", "x" * 61, "名", "a\n", "a/b"])
def test_a_name_that_cannot_stand_in_a_mention_is_refused(name: str):
    with pytest.raises(BadInput, match="A name is 1 to 60"):
        hub_services.join(name=name, now=NOON)


def test_a_key_opens_the_door_and_is_nowhere_in_the_database():
    author, key = hub_services.join(name="odile", now=NOON)
    assert hub_services.holder_of(key) == author
    assert key not in str(HubAuthor.objects.values())
    assert hub_services.holder_of("") is None
    assert hub_services.holder_of(key[:-1]) is None


# ── what words must be ────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"content": " \n "}, "the text is empty"),
        ({"content": "x" * 10_001}, "at most 10000 characters; this has 10001"),
        ({"content": "a\x00b"}, "cannot be stored"),
        ({"content": "a\ud800b"}, "cannot be stored"),
        ({"title": "x" * 301}, "A title has at most 300"),
        ({"key": "k" * 201}, "An idempotency key has at most 200"),
    ],
)
def test_words_that_cannot_be_kept_are_refused_with_a_sentence(given: dict, sentence: str):
    with pytest.raises(BadInput, match=sentence):
        make_hub_post(**given)
    assert not HubPost.objects.exists()


def test_a_post_into_a_community_that_does_not_exist_is_refused():
    with pytest.raises(HubNotFound, match="no community called nowhere"):
        make_hub_post(community="nowhere")


def test_answers_go_ten_levels_deep_and_no_deeper():
    post = make_hub_post()
    comment = say(post)
    for depth in range(1, 11):
        comment = say(post, parent=comment)
        assert comment.depth == depth
    with pytest.raises(BadInput, match="10 levels deep"):
        say(post, parent=comment)
    post.refresh_from_db()
    assert post.comment_count == 11, "what was refused is not counted"


def test_the_database_itself_refuses_an_eleventh_level():
    comment = say(make_hub_post())
    with pytest.raises(IntegrityError, match="hub_comment_depth_0_to_10"), transaction.atomic():
        HubComment.objects.filter(pk=comment.pk).update(depth=11, parent=comment)


def test_an_answer_across_posts_is_refused():
    with pytest.raises(BadInput, match="another post"):
        say(make_hub_post(), parent=say(make_hub_post()))


def test_nothing_is_said_under_what_was_deleted():
    author = make_author()
    post = make_hub_post(author)
    comment = say(post, author)
    hub_services.delete(comment, author=author, now=NOON)
    with pytest.raises(HubNotFound, match="comment you answer was deleted"):
        say(post, parent=comment)
    hub_services.delete(post, author=author, now=NOON)
    with pytest.raises(HubNotFound, match="post was deleted"):
        say(post)


# ── once ──────────────────────────────────────────────────────────────────


def test_the_same_key_twice_is_the_same_row():
    author = make_author()
    post = make_hub_post(author, key="k")
    assert make_hub_post(author, key="k") == post
    comment = say(post, author, key="k")
    assert say(post, author, key="k") == comment
    post.refresh_from_db()
    assert post.comment_count == 1


def test_the_same_key_of_two_authors_is_two_rows():
    post = make_hub_post()
    assert say(post, key="k") != say(post, key="k")


def test_a_key_does_not_stand_for_other_words():
    author = make_author()
    post = make_hub_post(author, key="k")
    with pytest.raises(KeyTaken, match="used for other words"):
        make_hub_post(author, key="k", content="Something else.")
    first = say(post, author, key="c")
    with pytest.raises(KeyTaken):
        say(post, author, key="c", parent=first)


def test_a_key_finds_its_row_after_an_edit_and_after_a_deletion():
    author = make_author()
    post = make_hub_post()
    comment = say(post, author, key="k")
    hub_services.edit(comment, author=author, content="The wind, I think.", now=NOON)
    assert say(post, author, key="k") == comment
    hub_services.delete(comment, author=author, now=NOON)
    assert say(post, author, key="k") == comment


@pytest.mark.django_db(transaction=True)
def test_eight_requests_with_one_key_at_once_write_one_comment():
    author, post = make_author(), make_hub_post()
    made = at_once([lambda: say(post, author, key="k").pk] * 8)
    assert len(made) == 8
    assert len(set(made)) == 1
    post.refresh_from_db()
    assert (post.comment_count, HubComment.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_eight_requests_with_one_key_at_once_write_one_post():
    author = make_author()
    made = at_once([lambda: make_hub_post(author, key="k").pk] * 8)
    assert len(made) == 8
    assert len(set(made)) == 1


@pytest.mark.django_db(transaction=True)
def test_comments_at_once_are_all_counted_and_each_has_its_own_number():
    post, authors = make_hub_post(), [make_author() for _ in range(8)]
    at_once([lambda author=author: say(post, author).pk for author in authors])
    post.refresh_from_db()
    assert post.comment_count == 8
    assert sorted(post.comments.values_list("number", flat=True)) == list(range(1, 9))


@pytest.mark.django_db(transaction=True)
def test_comments_edits_and_deletions_at_once_never_wait_in_a_ring():
    authors = [make_author() for _ in range(4)]
    posts = [make_hub_post(author) for author in authors]
    works: list[Callable[[], object]] = []
    for author, post in zip(authors, posts, strict=True):
        mine = say(post, author)
        works += [
            lambda a=author, p=post: hub_services.edit(p, author=a, content="Anew.", now=NOON),
            lambda a=author, c=mine: hub_services.delete(c, author=a, now=NOON),
            lambda p=post: [say(p, a).pk for a in authors],
        ]
    assert len(at_once(works)) == 12


# ── second thoughts ───────────────────────────────────────────────────────


def test_only_its_author_may_change_or_delete_something():
    post = make_hub_post(make_author("odile"))
    stranger = make_author()
    with pytest.raises(NotAllowed, match="Only odile"):
        hub_services.edit(post, author=stranger, content="Mine.", now=NOON)
    with pytest.raises(NotAllowed, match="Only odile"):
        hub_services.delete(post, author=stranger, now=NOON)


def test_deleting_takes_the_words_and_leaves_the_place():
    author = make_author()
    post = make_hub_post()
    comment = say(post, author)
    answer = say(post, parent=comment)
    hub_services.delete(comment, author=author, now=NOON)
    hub_services.delete(comment, author=author, now=NOON + timedelta(hours=1))
    assert (comment.content, comment.deleted_at) == ("", NOON)
    assert [row.pk for row in hub_queries.thread(post).comments] == [comment.pk, answer.pk]
    with pytest.raises(HubNotFound):
        hub_services.edit(comment, author=author, content="Back again.", now=NOON)


# ── mentions ──────────────────────────────────────────────────────────────


def named_in(post: HubPost) -> set[str]:
    return set(post.mentions.values_list("author__name", flat=True))


@pytest.mark.django_db
def test_a_thread_is_news_for_whoever_is_named_in_it():
    bob, carol = make_author("bob"), make_author("carol")
    post = make_hub_post(content="What does @BOB, say? Not bob@carol or @bobby.")
    assert named_in(post) == {"bob"}
    assert [one.pk for one in hub_queries.activity(bob, limit=5).posts] == [post.pk]
    assert not hub_queries.activity(carol, limit=5).posts
    before = hub_queries.activity(carol, limit=5).cursor
    said = say(post, bob, content="Ask (@carol).")
    assert [one.pk for one in hub_queries.activity(carol, after=before, limit=5).posts] == [post.pk]
    assert list(HubComment.objects.for_author(carol)) == [said]


@pytest.mark.django_db
def test_a_name_added_by_an_edit_counts_and_ones_own_does_not():
    make_author("bob")
    odile = make_author("odile")
    post = make_hub_post(odile, content="By @odile herself.")
    assert named_in(post) == set()
    hub_services.edit(post, author=odile, content="For @bob and @bob.", now=NOON)
    hub_services.edit(post, author=odile, content="For @bob.", now=NOON)
    assert named_in(post) == {"bob"}


@pytest.mark.django_db
def test_a_text_full_of_names_costs_one_query_and_names_some(django_assert_max_num_queries):
    for number in range(60):
        make_author(f"n{number}")
    author = make_author()
    with django_assert_max_num_queries(12):
        post = make_hub_post(author, content=" ".join(f"@n{number}" for number in range(60)))
    assert len(named_in(post)) == 50
    make_hub_post(author, content="@" * 9_000)
    make_hub_post(author, content="@a" * 4_000)
