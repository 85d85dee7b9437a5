"""What voices, models and woken agents answered."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _lazy

from surfaces.text.reasons import register

register(
    {
        "brain.key_lost": _lazy("The key of %(model)s cannot be decrypted. Enter it again."),
        "check.invisible": _lazy(
            "The text holds characters that nobody can see. Write it without them."
        ),
        "check.mention": _lazy(
            "The text mentions %(who)s: nobody of this thread. Leave the @ or the name out."
        ),
        "check.no_pointer": _lazy(
            "The pointer is empty. Point at one concrete behaviour or passage."
        ),
        "check.no_terms": _lazy("The terms are empty. Say which game we are in."),
        "check.prompt_mark": _lazy(
            "The text holds a mark of the prompt. Quote only what people wrote."
        ),
        "check.recites": _lazy(
            "The text recites what you were told. Say it in your own words, or leave it out."
        ),
        "check.repeat": _lazy(
            "The text repeats one of your last texts here. Say something new, in other words."
        ),
        "check.secret": _lazy("The text gives away a secret. Leave it out, in every form."),
        "check.too_long": _lazy(
            "The text has %(length)s characters; %(longest)s are allowed here. Shorten it."
        ),
        "voice.address_scheme": _lazy(
            "The address of %(model)s must begin with http:// or https:// and a host."
        ),
        "voice.asked": _lazy("Requested %(model)s; %(tokens)s tokens and %(money)s are reserved."),
        "voice.bad_address": _lazy("The address of %(model)s is not a valid web address."),
        "voice.bad_status": _lazy("%(model)s answered with status %(status)s. Check its address."),
        "voice.broke": _lazy("The connection to %(model)s was lost."),
        "voice.cannot_ask": _lazy("%(model)s cannot be asked this way%(said)s"),
        "voice.cannot_be_asked": _lazy(
            "%(model)s cannot be asked. Check its name, or give the address of a server that "
            "speaks the protocol of OpenAI."
        ),
        "voice.checks_passed": _lazy("Every check passed."),
        "voice.cut_off": _lazy("The response of %(model)s was cut off: it reached max tokens."),
        "voice.declined": _lazy("%(model)s declined to write this%(said)s"),
        "voice.faulty_twice": _lazy("The text failed the checks twice: %(faults)s"),
        "voice.key_refused": _lazy("%(model)s rejected the API key (status %(status)s)%(said)s"),
        "voice.key_sign": _lazy(
            "The key of %(model)s contains an invalid character. Enter it again."
        ),
        "voice.limited": _lazy("%(model)s reached its rate limit."),
        "voice.limited_for": _lazy("%(model)s reached its rate limit and asks to wait %(wait)s."),
        "voice.no_credit": _lazy(
            "The quota or credit of %(model)s is used up. Add credit at the provider."
        ),
        "voice.no_key": _lazy("No key is set for %(model)s."),
        "voice.no_library": _lazy("The library for %(provider)s is not installed."),
        "voice.no_model": _lazy("No model is set. Add one, or use the scripted voice."),
        "voice.no_model_name": _lazy("%(model)s is not a model name. Write provider:name."),
        "voice.no_model_there": _lazy("There is no %(model)s at that address%(said)s"),
        "voice.nonsense": _lazy("The response of %(model)s is not valid."),
        "voice.nonsense_because": _lazy("The response of %(model)s is not valid (%(name)s)."),
        "voice.not_reached": _lazy("%(model)s could not be reached."),
        "voice.not_taken": _lazy("%(model)s did not take the request%(said)s"),
        "voice.out_of_order": _lazy("%(model)s is unavailable."),
        "voice.out_of_order_status": _lazy("%(model)s is unavailable (status %(status)s)."),
        "voice.packed": _lazy("its answer came packed, although we asked for it plain"),
        "voice.rejected": _lazy("%(model)s rejected the request%(said)s"),
        "voice.stopped": _lazy("The process was stopped before the text could be rewritten."),
        "voice.surrogate": _lazy("The response of %(model)s contains an invalid character."),
        "voice.thread_too_long": _lazy("The thread is too long for %(model)s."),
        "voice.told_to_stop": _lazy("The process was stopped while waiting for %(model)s."),
        "voice.too_large": _lazy("its answer is larger than 4 MB"),
        "voice.too_long": _lazy("The response of %(model)s is longer than requested."),
        "voice.too_slow": _lazy("Timeout: %(model)s took longer than %(timeout)s s."),
        "voice.unreadable": _lazy("The response of %(model)s cannot be read: %(cause)s."),
        "voice.wrong_form": _lazy("The response of %(model)s does not have the requested format."),
        "wake.program_failed": _lazy("Internal error during the request (%(kind)s). See the log."),
        "wake.secret_lost": _lazy("The secret cannot be decrypted. Enter a new one."),
    }
)
