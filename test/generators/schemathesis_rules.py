"""
Refusals of requests that fit the schema. A schema has no rules between fields, and knows neither what exists nor the time, so
such a request can be a 400. Each class of these refusals stands here with its reason. A 400 that says anything else fails the
run: either the schema can say it, or its class belongs here.
"""

import re

import schemathesis

RULES = {
    "A cursor is a text that only the service reads.": [
        r"^must be a next_page_cursor of ",
    ],
    "Assets and rails are configuration, and clients must accept new ones: no enum. Decimals and networks depend on the asset.": [
        r"^must be one of wire, ",
        r"has no configured ",
        r"^is required: \w+ is on several networks ",
        r"^must be \w+ or USD$",
        r"^must be a known asset: ",
        r'^".*" is not a known asset',
        r" decimals, at most \d+ are allowed",
        r"^must be a network of ",
        r"^must be absent: \w+ is not on a crypto network$",
        r"^is not on any crypto network",
        r"^is only for the operator's own stablecoin",
        r"^must be USD or the operator's own stablecoin",
        r"^must be USD, the only asset of fiat withdrawals$",
        r"^\w+ is not configured for the \w+ rail$",
    ],
    "Fields that exclude or require each other: `oneOf` makes generated clients unusable.": [
        r"^must have exactly one of ",
        r"^must have either ",
        r"^exactly one of ",
        r"^must not be (given|sent) together with ",
        r"^is required,? unless ",
        r"^must be absent (for the kind|in a rule of the type) ",
        r"^is required (for the kind|in a rule of the type) ",
        r"^must not be sent with accepts_from ",
        r"^is only for a settlement transaction$",
        r"^must be absent for the platform$",
        r"^must be absent: only transactions on a chain have outputs$",
        r"^must be (PERSON|INSTITUTION) with ",
        r"^must be PROFILE or CUSTOMER: ALL is for the operator$",
        r"^is required for third-party integrations$",
        r"^or assignment_id is required, and not both$",
        r"^Authenticate with HTTP Basic, in the body or with an assertion, not with several\.$",
    ],
    "Values that are compared with other fields, with records or with the clock.": [
        r"^must differ from ",
        r"^must be (after|before) ",
        r"^moves value from an account to itself$",
        r"^must not have a day twice$",
        r"^must be the same as the Idempotency-Key header$",
        r"^must not be in the (list more than once|future|past)",
        r"^must be in the future",
        r"is not in the future\.$",
        r", which is in the past$",
        r"^must be unique within the policy$",
        r"^must not be sent: the identity is a ",
        r"^must be \w+, the kind of this account",
        r"^has no item ",
        r"^names a (deleted|rejected) fiat account$",
        r"^was used by the transfer ",
        r"^differs from the one that fee_id is for$",
        r"^must be \w+, the asset of the withdrawal$",
        r"^must be an asset of what it corrects",
        r"^or to must be an account of what it corrects$",
        r"^is masked, but not as the stored one",
        r", which is more than 90 days from now$",
        r"^The person belongs to another customer ",
        r'^The scope ".*" exists in the sandbox only\.$',
        r"^is only for policies of the operator$",
    ],
    "Addresses, numbers of banks, keys and files have checksums and forms of their own.": [
        r"^(is an? |is not an? |has a wrong |has an |is the ).*(address|checksum|contract|one$)",
        r"^contains U\+[0-9A-F]+, an address is printable ASCII",
        r"^does not begin with ",
        r"^is \d+ characters long, ",
        r"^is cut short$",
        r"^has (\d+ hexadecimal digits|version byte|witness version|the prefix) ",
        r"^must be fiat_account/ and the id of a fiat account, or one of ",
        r"^must have nine digits when routing_number_type is ABA$",
        r"^must be a BIC of 8 or 11 characters",
        r"^A key must be one for ",
        r"^must begin with the line at,asset,direction,amount,reference$",
        r"^must be an absolute URL$",
        r"^must name a public address: ",
        r"^must be the name of a time zone",
        r"^must have a booked line$",
        r"^is required: the statement has no id of its own$",
        r"^must be a number from 0 to 4294967295 without leading zeros",
        r"^is not acceptable XML: ",
    ],
    "Without lookahead, which the expressions of Go do not have, a pattern cannot exclude all forms of zero, nor bound a number.": [
        r"^must be greater than zero$",
        r"larger than the ledger can hold$",
    ],
    "A pattern without classes such as \\p{C}, which many languages do not have, cannot name all these characters.": [
        r"^contains a character that cannot be stored ",
        r", which payment networks cannot carry",
        r"^must have 1 to \d+ printable characters",
        r"^must be an email address",
    ],
    "JSON Schema has no bounds for times: stored ones are 64-bit numbers of nanoseconds.": [
        r"^must be an RFC 3339 time between 1678 and 2262 ",
    ],
    "The families of event types are configuration of the service: new ones come with new releases.": [
        r"^must be \* or begin with one of ",
    ],
    "A form with a list is sent as a repeated parameter, which RFC 6749 forbids.": [
        r"^A parameter must not be sent more than once\.$",
    ],
}

KNOWN = [re.compile(pattern) for patterns in RULES.values() for pattern in patterns]


def messages_of(body):
    errors = body.get("meta", {}).get("errors")
    if errors:
        return [error["message"] for error in errors]
    return [body.get("error_description") or body.get("detail")]


@schemathesis.hook
def before_call(context, case, kwargs):
    """Nobody answers at the address of the examples: a test delivery would wait ten seconds. Here it is refused at once."""
    if isinstance(case.body, dict) and str(case.body.get("url")).startswith("https://example.com"):
        case.body["url"] = "http://127.0.0.1:9/"


@schemathesis.check
def refusal_is_of_a_known_rule(ctx, response, case):
    if response.status_code != 400 or case.meta is None or not case.meta.generation.mode.is_positive:
        return None
    unknown = [text for text in messages_of(response.json()) if not any(rule.search(text) for rule in KNOWN)]
    assert not unknown, f"The schema permits what is refused: {unknown}"
    return None
