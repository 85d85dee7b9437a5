"""Addresses, calls, mails and notifications."""

from django.utils.translation import gettext_lazy as _

from surfaces.text.reasons import register

TEXTS = {
    "address.bad_characters": _(
        "The address has a blank, a backslash or a control character in it."
    ),
    "address.bad_host": _("%(host)s is no name of a host."),
    "address.bad_number": _("%(host)s is no address. Write four numbers, or a name."),
    "address.bad_port": _("There is no port %(port)s. Ports go from 1 to 65535."),
    "address.credentials": _("The address has a name or a password in it. Take it out."),
    "address.no_address": _("%(text)s is no address."),
    "address.no_answer": _("The name %(host)s leads to no address."),
    "address.no_https": _(
        "Use https. Over http, others on the network can read and change the request."
    ),
    "address.not_resolved": _("The name %(host)s could not be resolved."),
    "address.not_web": _("This is not a URL."),
    "address.not_whole": _("Enter a full URL, such as https://example.org/hook."),
    "address.own_name": _(
        "%(host)s is a name of our own network. If that is meant, set WAKE_PRIVATE_ADDRESSES=on."
    ),
    "address.refused": _(
        "%(address)s is %(what)s. If that is meant, set WAKE_PRIVATE_ADDRESSES=on."
    ),
    "address.refused_name": _(
        "%(host)s leads to %(address)s, %(what)s. If that is meant, set WAKE_PRIVATE_ADDRESSES=on."
    ),
    "address.too_long": _("The address has %(url)s characters. Enter at most %(longest)s."),
    "call.answered": _("It answered %(status)s."),
    "call.answered_because": _("It answered %(status)s: %(what)s."),
    "call.bad_certificate": _("Its certificate is not trusted: %(verify_message)s."),
    "call.bad_secret": _("the secret is not the one it knows"),
    "call.bad_secret_or_right": _("the secret is not the one it knows, or may not do this"),
    "call.broke": _("The connection broke before it answered."),
    "call.no_more": _("it wants no more events"),
    "call.no_post": _("this address takes no POST"),
    "call.no_tls": _("No secure connection came about."),
    "call.not_reached": _("The address could not be reached."),
    "call.nothing_there": _("nothing is at this address"),
    "call.redirected": _("It answered %(status)s: a redirect is not followed."),
    "call.timeout": _("No response within %(seconds)s s."),
    "call.too_many": _("too many requests"),
    "mail.address_refused": _("The mail server refused your address: %(said)s"),
    "mail.broken_off": _("The mail server was too slow or sent too much."),
    "mail.failed": _("The mail server failed us (%(name)s)."),
    "mail.hung_up": _("The mail server hung up."),
    "mail.login_refused": _("The mail server did not take our name and password (%(smtp_code)s)."),
    "mail.no_address": _("Your profile has no email address. Enter one in your profile."),
    "mail.not_reached": _("The mail server could not be reached."),
    "mail.not_reached_because": _("The mail server could not be reached (%(name)s)."),
    "mail.not_set_up": _("Email is not configured. An administrator sets EMAIL_URL and MAIL_FROM."),
    "mail.not_written": _("The mail could not be written (%(name)s)."),
    "mail.refused": _("The mail server refused the mail: %(said)s"),
    "mail.timeout": _("The mail server did not answer within %(email_timeout)s s."),
    "network.link_local": _("a link-local address"),
    "network.loopback": _("a loopback address"),
    "network.mapped": _("an IPv4 address in the clothes of IPv6"),
    "network.metadata": _("the metadata address of a cloud"),
    "network.multicast": _("a multicast address"),
    "network.nat64": _("a NAT64 address, which hides an IPv4 address"),
    "network.private": _("a private address"),
    "network.reserved": _("a reserved address"),
    "network.shared": _("an address shared inside a provider's network"),
    "network.six_to_four": _("a 6to4 address, which hides an IPv4 address"),
    "network.unspecified": _("an unspecified address"),
    "notice.failed_sign_ins": _("%(n)s failed sign-ins to your account within a day."),
    "notice.faster": _("%(actor)s decided first: %(action)s."),
    "notice.held": _("Postponed: %(name)s has the item open."),
    "notice.left_unread": _("The item was decided before you read this notification."),
    "notice.needless": _("All items were decided before the notification was sent."),
    "notice.new_sign_in": _("New sign-in to your account: %(browser)s, network %(network)s."),
    "notice.next_digest": _("Waiting for the next digest."),
    "notice.not_sent": _("It could not be sent. %(why)s"),
    "notice.off_desk": _("The item was decided before the notification was sent."),
    "notice.out_of_reach": _("You no longer have access to it."),
    "notice.over_early": _("It ended before the notification was due."),
    "notice.put_off": _("Postponed: an operator snoozed the item."),
    "notice.quiet_hours": _("Postponed: quiet hours."),
    "notice.rule_deleted": _("Rule deleted."),
    "notice.rule_off": _("The rule was disabled."),
    "notice.secret_lost": _("The secret cannot be decrypted. Create a new one."),
    "notice.silent": _("%(kind)s sends no heartbeat. Start it with: %(start)s"),
    "secret.no_base64": _("A secret is whsec_ and base64 behind it. Empty: we make one."),
    "secret.wrong_size": _("The secret holds %(raw)s bytes; it must hold %(least)s to %(most)s."),
    "token.not_plain": _("The token must be plain letters, digits and signs, without blanks."),
    "token.too_long": _("The token has more than %(longest_token)s characters."),
    "worker.agents": _("Agents"),
    "worker.replier": _("Replier"),
    "worker.sender": _("Sender"),
    "worker.tasks": _("Worker"),
    "worker.watcher": _("Watcher"),
    "worker.web": _("Web"),
}
register(TEXTS)
