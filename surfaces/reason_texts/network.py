"""Addresses, calls, mails and notifications."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _lazy

from surfaces.text.reasons import register

register(
    {
        "address.bad_characters": _lazy(
            "The address has a blank, a backslash or a control character in it."
        ),
        "address.bad_host": _lazy("%(host)s is no name of a host."),
        "address.bad_number": _lazy("%(host)s is no address. Write four numbers, or a name."),
        "address.bad_port": _lazy("There is no port %(port)s. Ports go from 1 to 65535."),
        "address.credentials": _lazy("The address has a name or a password in it. Take it out."),
        "address.no_address": _lazy("%(text)s is no address."),
        "address.no_answer": _lazy("The name %(host)s leads to no address."),
        "address.no_https": _lazy("Use https: anybody on the way could read and change the rest."),
        "address.not_resolved": _lazy("The name %(host)s could not be resolved."),
        "address.not_web": _lazy("This is no web address."),
        "address.not_whole": _lazy(
            "Enter a whole web address, like https://agent.example.org/wake."
        ),
        "address.own_name": _lazy(
            "%(host)s is a name of our own network. If that is meant, set "
            "WAKE_PRIVATE_ADDRESSES=on."
        ),
        "address.refused": _lazy(
            "%(address)s is %(what)s. If that is meant, set WAKE_PRIVATE_ADDRESSES=on."
        ),
        "address.refused_name": _lazy(
            "%(host)s leads to %(address)s, %(what)s. If that is meant, set "
            "WAKE_PRIVATE_ADDRESSES=on."
        ),
        "address.too_long": _lazy("The address has %(url)s characters. Enter at most %(longest)s."),
        "call.answered": _lazy("It answered %(status)s."),
        "call.answered_because": _lazy("It answered %(status)s: %(what)s."),
        "call.bad_certificate": _lazy("Its certificate is not trusted: %(verify_message)s."),
        "call.bad_secret": _lazy("the secret is not the one it knows"),
        "call.bad_secret_or_right": _lazy("the secret is not the one it knows, or may not do this"),
        "call.broke": _lazy("The connection broke before it answered."),
        "call.no_more": _lazy("it wants no more events"),
        "call.no_post": _lazy("this address takes no POST"),
        "call.no_tls": _lazy("No secure connection came about."),
        "call.not_reached": _lazy("The address could not be reached."),
        "call.nothing_there": _lazy("nothing is at this address"),
        "call.redirected": _lazy("It answered %(status)s: a redirect is not followed."),
        "call.timeout": _lazy("No response within %(seconds)s s."),
        "call.too_many": _lazy("too many requests"),
        "mail.address_refused": _lazy("The mail server refused your address: %(said)s"),
        "mail.failed": _lazy("The mail server failed us (%(name)s)."),
        "mail.hung_up": _lazy("The mail server hung up."),
        "mail.login_refused": _lazy(
            "The mail server did not take our name and password (%(smtp_code)s)."
        ),
        "mail.no_address": _lazy("You have no mail address. Enter one on your page."),
        "mail.not_reached": _lazy("The mail server could not be reached."),
        "mail.not_reached_because": _lazy("The mail server could not be reached (%(name)s)."),
        "mail.not_set_up": _lazy(
            "Mail is not set up here: an administrator sets EMAIL_URL and MAIL_FROM."
        ),
        "mail.not_written": _lazy("The mail could not be written (%(name)s)."),
        "mail.refused": _lazy("The mail server refused the mail: %(said)s"),
        "mail.timeout": _lazy("The mail server did not answer within %(email_timeout)s s."),
        "network.link_local": _lazy("a link-local address"),
        "network.loopback": _lazy("a loopback address"),
        "network.mapped": _lazy("an IPv4 address in the clothes of IPv6"),
        "network.metadata": _lazy("the metadata address of a cloud"),
        "network.multicast": _lazy("a multicast address"),
        "network.nat64": _lazy("a NAT64 address, which hides an IPv4 address"),
        "network.private": _lazy("a private address"),
        "network.reserved": _lazy("a reserved address"),
        "network.shared": _lazy("an address shared inside a provider's network"),
        "network.six_to_four": _lazy("a 6to4 address, which hides an IPv4 address"),
        "network.unspecified": _lazy("an unspecified address"),
        "notice.faster": _lazy("%(actor)s decided first: %(action)s."),
        "notice.held": _lazy("Postponed: %(name)s has the item open."),
        "notice.left_unread": _lazy("The item was decided before you read this notification."),
        "notice.needless": _lazy("All items were decided before the notification was sent."),
        "notice.next_digest": _lazy("Waiting for the next digest."),
        "notice.not_sent": _lazy("It could not be sent. %(why)s"),
        "notice.off_desk": _lazy("The item was decided before the notification was sent."),
        "notice.out_of_reach": _lazy("You no longer have access to it."),
        "notice.over_early": _lazy("It ended before the notification was due."),
        "notice.put_off": _lazy("Postponed: an operator snoozed the item."),
        "notice.quiet_hours": _lazy("Postponed: quiet hours."),
        "notice.rule_deleted": _lazy("Rule deleted."),
        "notice.rule_off": _lazy("The rule was switched off."),
        "notice.secret_lost": _lazy("The secret cannot be decrypted. Create a new one."),
        "notice.silent": _lazy("%(kind)s sends no heartbeat. Start it with: %(start)s"),
        "secret.no_base64": _lazy("A secret is whsec_ and base64 behind it. Empty: we make one."),
        "secret.wrong_size": _lazy(
            "The secret holds %(raw)s bytes; it must hold %(least)s to %(most)s."
        ),
        "token.not_plain": _lazy(
            "The token must be plain letters, digits and signs, without blanks."
        ),
        "token.too_long": _lazy("The token has more than %(longest_token)s characters."),
        "worker.replier": _lazy("Replier"),
        "worker.sender": _lazy("Sender"),
        "worker.tasks": _lazy("Tasks"),
        "worker.watcher": _lazy("Watcher"),
        "worker.web": _lazy("Web"),
    }
)
