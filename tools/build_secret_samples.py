"""Makes fixtures/secrets/samples.json: made-up credentials of many forms, each in the line it would stand in.

    python tools/build_secret_samples.py [--seed SEED] [FILE]

Every value is drawn at random and was never anybody's; it is valid in form, with a checksum where the form has one.
Another seed makes other values of the same forms: what was written against the committed samples can be tried with
samples nobody has seen. Values are stored in two parts, so that no scanner takes the file for a leak.
"""

# ruff: noqa: E501 (a form is a line, however long its sample)

import argparse
import base64
import json
import random
import string
import uuid
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent.parent / "fixtures" / "secrets" / "samples.json"

LEAKS = "https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml"
HOG = "https://github.com/trufflesecurity/trufflehog/tree/main/pkg/detectors"
GITHUB = "https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/"
GITLAB = "https://docs.gitlab.com/security/tokens/#token-prefixes"
SLACK = "https://docs.slack.dev/authentication/tokens/"
STRIPE = "https://docs.stripe.com/keys"
SHOPIFY = "https://shopify.dev/docs/apps/build/authentication-authorization"
HASHICORP = "https://developer.hashicorp.com/vault/docs/concepts/tokens"
RFC3986 = "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1"
RFC6265 = "https://www.rfc-editor.org/rfc/rfc6265#section-4"
RFC7235 = "https://www.rfc-editor.org/rfc/rfc7235#section-4"
RFC7468 = "https://www.rfc-editor.org/rfc/rfc7468"
OPENSSH = "https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.key"

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
BASE64 = string.ascii_letters + string.digits + "+/"
URLSAFE = string.ascii_letters + string.digits + "-_"
BASE32 = string.ascii_uppercase + "234567"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
HEX = "0123456789abcdef"
SIGNS = "!#%^*+.,?~"
"""What people put into passwords, without quotes, spaces, and what ends a word in a shell or a URL."""


class Draw:
    """Draws values; one per sample, so that a new form changes no other sample."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, size: int) -> str:
        """Return random characters of an alphabet."""
        return "".join(self._random.choices(alphabet, k=size))

    def one(self, words: str) -> str:
        """Return one of some words."""
        return self._random.choice(words.split())

    def mix(self, size: int) -> str:
        """Return letters and digits."""
        return self.of(BASE62, size)

    def low(self, size: int) -> str:
        """Return lower-case letters and digits."""
        return self.of(string.ascii_lowercase + string.digits, size)

    def letters(self, size: int) -> str:
        """Return letters."""
        return self.of(string.ascii_letters, size)

    def hex(self, size: int) -> str:
        """Return hexadecimal digits."""
        return self.of(HEX, size)

    def digits(self, size: int) -> str:
        """Return digits."""
        return self.of("123456789", 1) + self.of(string.digits, size - 1)

    def url(self, size: int) -> str:
        """Return characters of base64url."""
        return self.of(BASE62, 1) + self.of(URLSAFE, size - 2) + self.of(BASE62, 1)

    def base32(self, size: int) -> str:
        """Return characters of base32."""
        return self.of(BASE32, size)

    def upper(self, size: int) -> str:
        """Return upper-case letters and digits."""
        return self.of(string.ascii_uppercase + string.digits, size)

    def bytes(self, size: int) -> bytes:
        """Return random bytes."""
        return self._random.randbytes(size)

    def base64(self, size: int) -> str:
        """Of so many random bytes."""
        return base64.b64encode(self.bytes(size)).decode()

    def uuid(self) -> str:
        """Return a UUID."""
        return str(uuid.UUID(bytes=self.bytes(16), version=4))

    def password(self, size: int = 14) -> str:
        """As a generator makes them: all classes of characters, a letter first and last."""
        middle = [*self.letters(size - 6), *self.of(SIGNS, 2), *self.digits(2)]
        self._random.shuffle(middle)
        return self.letters(1) + "".join(middle) + self.of(string.digits, 1) + self.letters(1)

    def plain(self, size: int = 16) -> str:
        """A password of letters and digits alone, both in it."""
        return self.letters(1) + self.mix(size - 4) + self.of(string.digits, 2) + self.letters(1)

    def body(self, data: bytes, width: int = 64) -> str:
        """As the armour of keys has it."""
        text = base64.b64encode(data).decode()
        return "\n".join(text[at : at + width] for at in range(0, len(text), width))


def base62(number: int, width: int) -> str:
    """Return a number in base 62."""
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits.rjust(width, "0")


def checked(draw: Draw, prefix: str) -> str:
    """Thirty characters and their CRC-32 in six, as GitHub and npm make them."""
    entropy = draw.mix(30)
    return prefix + entropy + base62(zlib.crc32(entropy.encode()), 6)


def grafana(draw: Draw) -> str:
    """Return a Grafana token with its checksum."""
    key = "glsa_" + draw.mix(32)
    return f"{key}_{zlib.crc32(key.encode()):08x}"


def age(draw: Draw) -> str:
    """Bech32 with its checksum (BIP 173), in capitals."""
    bits = "".join(f"{byte:08b}" for byte in draw.bytes(32)).ljust(260, "0")
    data = [int(bits[at : at + 5], 2) for at in range(0, 260, 5)]
    name = "age-secret-key-"
    values = [ord(c) >> 5 for c in name] + [0] + [ord(c) & 31 for c in name] + data + [0] * 6
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(
            (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
        ):
            check ^= generator if top >> bit & 1 else 0
    check ^= 1
    return (
        name
        + "1"
        + "".join(BECH32[n] for n in [*data, *(check >> 5 * (5 - i) & 31 for i in range(6))])
    ).upper()


def encoded(**claims: object) -> str:
    """Return fields as compact JSON."""
    return (
        base64.urlsafe_b64encode(json.dumps(claims, separators=(",", ":")).encode())
        .decode()
        .rstrip("=")
    )


def jwt(draw: Draw) -> str:
    """Return a JSON web token."""
    head = encoded(alg="HS256", typ="JWT")
    body = encoded(
        sub=draw.digits(10), name=draw.letters(9), iat=1_770_000_000 + int(draw.digits(6))
    )
    return f"{head}.{body}.{draw.url(43)}"


def sentry(draw: Draw) -> str:
    """Return a Sentry token."""
    claims = {
        "iat": 1770000000.5,
        "url": "https://sentry.io",
        "region_url": "https://us.sentry.io",
        "org": draw.low(8),
    }
    text = base64.b64encode(json.dumps(claims).encode()).decode()
    return f"sntrys_{text}_{draw.of(BASE64, 43)}"


def discord(draw: Draw) -> str:
    """Return a Discord token."""
    head = base64.urlsafe_b64encode(draw.digits(18).encode()).decode().rstrip("=")
    return f"{head}.{draw.url(6)}.{draw.url(38)}"


def pgp(draw: Draw) -> str:
    """With the CRC-24 of the armour (RFC 4880)."""
    data = b"\x95\x03\x98" + draw.bytes(396)
    check = 0xB704CE
    for byte in data:
        check ^= byte << 16
        for _ in range(8):
            check <<= 1
            check ^= 0x1864CFB if check & 0x1000000 else 0
    return f"{draw.body(data)}\n={base64.b64encode(check.to_bytes(3, 'big')).decode()}"


def basic(draw: Draw, user: str = "deploy") -> str:
    """Return a name and password in base64."""
    return base64.b64encode(f"{user}:{draw.password()}".encode()).decode()


class Form(NamedTuple):
    """`kind` says what a test may do to it; see tests/secrets/wraps.py."""

    name: str
    kind: str
    source: str
    make: Callable[[Draw], str]
    texts: tuple[str, ...]
    strength: str = "strong"


ANYWHERE = (
    "export {name}={secret}",
    "the old token was {secret}, please rotate it",
    'client = Client(token="{secret}", timeout=30)',
    "{name}: {secret}",
    "curl -s -H 'Authorization: Bearer {secret}' https://api.example.org/v1/me",
    "Error: 401 for key {secret} (request 7f3a)",
)


def token(name: str, source: str, make: Callable[[Draw], str], *texts: str) -> Form:
    """What anybody knows for a credential without a word beside it."""
    return Form(name, "token", source, make, texts)


def named(
    name: str, source: str, make: Callable[[Draw], str], *texts: str, strength: str = "strong"
) -> Form:
    """A value that only its name gives away."""
    return Form(name, "named", source, make, texts, strength)


TOKENS = (
    token("GitHub personal access token", GITHUB, lambda d: checked(d, "ghp_")),
    token("GitHub OAuth token", GITHUB, lambda d: checked(d, "gho_")),
    token("GitHub app user token", GITHUB, lambda d: checked(d, "ghu_")),
    token("GitHub app installation token", GITHUB, lambda d: checked(d, "ghs_"),
          "git clone https://x-access-token:{secret}@github.com/acme/api.git"),
    token("GitHub refresh token", GITHUB, lambda d: checked(d, "ghr_")),
    token("GitHub fine-grained token", GITHUB, lambda d: f"github_pat_{d.mix(22)}_{d.mix(59)}"),
    token("GitLab personal access token", GITLAB, lambda d: "glpat-" + d.url(20),
          "curl --header 'PRIVATE-TOKEN: {secret}' https://gitlab.example.org/api/v4/projects"),
    token("GitLab routable token", GITLAB, lambda d: f"glpat-{d.url(27)}.01.{d.low(9)}"),
    token("GitLab deploy token", GITLAB, lambda d: "gldt-" + d.url(20)),
    token("GitLab trigger token", GITLAB, lambda d: "glptt-" + d.hex(40)),
    token("GitLab runner token", GITLAB, lambda d: "glrt-" + d.url(20)),
    token("GitLab job token", GITLAB, lambda d: f"glcbt-64_{d.url(20)}"),
    token("AWS access key id", LEAKS, lambda d: "AKIA" + d.base32(16), "aws_access_key_id = {secret}"),
    token("AWS temporary key id", LEAKS, lambda d: "ASIA" + d.base32(16)),
    token("AWS Bedrock key", "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
          lambda d: "ABSK" + base64.b64encode(b"BedrockAPIKey-" + d.low(85).encode()).decode()),
    token("Google API key", "https://cloud.google.com/docs/authentication/api-keys", lambda d: "AIzaSy" + d.url(33),
          "https://maps.googleapis.com/maps/api/geocode/json?address=Bonn&key={secret}"),
    token("Google OAuth secret", HOG, lambda d: "GOCSPX-" + d.url(28)),
    token("Google access token", "https://developers.google.com/identity/protocols/oauth2",
          lambda d: "ya29.a0" + d.url(160)),
    token("Azure client secret", LEAKS, lambda d: f"{d.mix(3)}8Q~{d.url(34)}"),
    token("Slack bot token", SLACK, lambda d: f"xoxb-{d.digits(12)}-{d.digits(13)}-{d.mix(24)}"),
    token("Slack user token", SLACK, lambda d: f"xoxp-{d.digits(12)}-{d.digits(12)}-{d.digits(13)}-{d.hex(32)}"),
    token("Slack app token", SLACK, lambda d: f"xapp-1-A{d.upper(10)}-{d.digits(13)}-{d.hex(64)}"),
    Form("Slack webhook", "url", "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/",
          lambda d: f"T{d.upper(8)}/B{d.upper(10)}/{d.mix(24)}",
          ("SLACK_URL=https://hooks.slack.com/services/{secret}",
           "curl -d '{\"text\":\"hi\"}' https://hooks.slack.com/services/{secret}")),
    token("Stripe secret key", STRIPE, lambda d: "sk_live_51" + d.mix(97), "stripe.api_key = '{secret}'"),
    token("Stripe short key", STRIPE, lambda d: "sk_live_" + d.mix(24)),
    token("Stripe restricted key", STRIPE, lambda d: "rk_live_51" + d.mix(97)),
    token("Stripe webhook secret", "https://docs.stripe.com/webhooks", lambda d: "whsec_" + d.mix(32)),
    token("Twilio API key", LEAKS, lambda d: "SK" + d.hex(32), "TWILIO_API_KEY={secret}"),
    token("SendGrid key", LEAKS, lambda d: f"SG.{d.url(22)}.{d.url(43)}"),
    token("npm token", "https://github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format/",
          lambda d: checked(d, "npm_"), "//registry.npmjs.org/:_authToken={secret}"),
    token("PyPI token", "https://pypi.org/help/#apitoken",
          lambda d: "pypi-AgEIcHlwaS5vcmc" + d.url(150), "twine upload -u __token__ -p {secret} dist/*"),
    token("RubyGems key", LEAKS, lambda d: "rubygems_" + d.hex(48)),
    token("crates.io token", HOG, lambda d: "cio" + d.mix(32), "cargo login {secret}"),
    token("OpenAI project key", LEAKS, lambda d: f"sk-proj-{d.url(74)}T3BlbkFJ{d.url(74)}"),
    token("OpenAI old key", LEAKS, lambda d: f"sk-{d.mix(20)}T3BlbkFJ{d.mix(20)}"),
    token("OpenAI service account key", LEAKS, lambda d: f"sk-svcacct-{d.url(58)}T3BlbkFJ{d.url(58)}"),
    token("Anthropic key", LEAKS, lambda d: f"sk-ant-api03-{d.url(93)}AA"),
    token("Anthropic admin key", LEAKS, lambda d: f"sk-ant-admin01-{d.url(93)}AA"),
    token("xAI key", "https://docs.x.ai/docs/overview", lambda d: "xai-" + d.mix(80)),
    token("Perplexity key", LEAKS, lambda d: "pplx-" + d.mix(48)),
    token("Replicate token", HOG, lambda d: "r8_" + d.mix(37)),
    token("Hugging Face token", LEAKS, lambda d: "hf_" + d.letters(34)),
    token("Groq key", HOG, lambda d: "gsk_" + d.mix(52)),
    token("OpenRouter key", "https://openrouter.ai/docs/api-reference/authentication",
          lambda d: "sk-or-v1-" + d.hex(64)),
    token("DeepSeek key", HOG, lambda d: "sk-" + d.hex(32)),
    token("LangSmith key", HOG, lambda d: f"lsv2_pt_{d.hex(32)}_{d.hex(10)}"),
    token("Sentry organization token", LEAKS, sentry),
    token("Sentry user token", LEAKS, lambda d: "sntryu_" + d.hex(64)),
    token("Shopify access token", SHOPIFY, lambda d: "shpat_" + d.hex(32),
          "X-Shopify-Access-Token: {secret}"),
    token("Shopify custom app token", SHOPIFY, lambda d: "shpca_" + d.hex(32)),
    token("Shopify private app token", SHOPIFY, lambda d: "shppa_" + d.hex(32)),
    token("Shopify shared secret", SHOPIFY, lambda d: "shpss_" + d.hex(32)),
    token("Square access token", LEAKS, lambda d: "EAAA" + d.url(60)),
    token("Square personal token", LEAKS, lambda d: "sq0atp-" + d.url(22)),
    token("Square OAuth secret", HOG, lambda d: "sq0csp-" + d.url(43)),
    token("Facebook page token", LEAKS, lambda d: "EAAC" + d.mix(170),
          "https://graph.facebook.com/v21.0/me?access_token={secret}"),
    token("Facebook app token", "https://developers.facebook.com/docs/facebook-login/guides/access-tokens",
          lambda d: f"{d.digits(16)}|{d.url(27)}"),
    token("Grafana service account token", "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
          grafana),
    token("Grafana cloud token", LEAKS,
          lambda d: "glc_" + base64.b64encode(encoded(o=d.digits(6), n=d.low(8), k=d.mix(24)).encode()).decode()),
    token("Vault service token", HASHICORP, lambda d: "hvs." + d.url(95), "vault login {secret}"),
    token("Vault batch token", HASHICORP, lambda d: "hvb." + d.url(150)),
    token("Vault old token", HASHICORP, lambda d: "s." + d.mix(24), "VAULT_TOKEN={secret}", "X-Vault-Token: {secret}"),
    token("Terraform Cloud token", LEAKS, lambda d: f"{d.mix(14)}.atlasv1.{d.url(67)}",
          'credentials "app.terraform.io" { token = "{secret}" }'),
    token("Pulumi token", "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/",
          lambda d: "pul-" + d.hex(40)),
    token("Databricks token", "https://docs.databricks.com/aws/en/dev-tools/auth/pat", lambda d: "dapi" + d.hex(32)),
    token("DigitalOcean token", LEAKS, lambda d: "dop_v1_" + d.hex(64), "doctl auth init -t {secret}"),
    token("DigitalOcean OAuth token", LEAKS, lambda d: "doo_v1_" + d.hex(64)),
    token("Heroku new key", LEAKS, lambda d: "HRKU-AA" + d.url(58)),
    token("Netlify token", HOG, lambda d: "nfp_" + d.mix(36)),
    token("Fly token", LEAKS, lambda d: "fm2_" + d.of(BASE64, 160), 'FLY_API_TOKEN="FlyV1 {secret}"'),
    token("Fly OAuth token", LEAKS, lambda d: "fo1_" + d.url(43)),
    token("Supabase access token", "https://supabase.com/docs/guides/platform/personal-access-tokens",
          lambda d: "sbp_" + d.hex(40)),
    token("Supabase secret key", "https://supabase.com/docs/guides/api/api-keys",
          lambda d: f"sb_secret_{d.url(22)}_{d.url(8)}"),
    token("Postman key", "https://learning.postman.com/docs/developer/postman-api/authentication/",
          lambda d: f"PMAK-{d.hex(24)}-{d.hex(34)}", "X-API-Key: {secret}"),
    token("Figma token", "https://developers.figma.com/docs/rest-api/personal-access-tokens/",
          lambda d: "figd_" + d.url(40), "X-Figma-Token: {secret}"),
    token("Mailgun key", LEAKS, lambda d: "key-" + d.hex(32), "MAILGUN_API_KEY={secret}",
          "curl -s --user 'api:{secret}' https://api.mailgun.net/v3/domains"),
    token("Mailchimp key", "https://mailchimp.com/developer/marketing/guides/quick-start/",
          lambda d: f"{d.hex(32)}-us21"),
    token("Brevo key", LEAKS, lambda d: f"xkeysib-{d.hex(64)}-{d.mix(16)}"),
    token("New Relic user key", "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
          lambda d: "NRAK-" + d.upper(27)),
    token("New Relic insert key", LEAKS, lambda d: "NRII-" + d.url(32), "NEW_RELIC_INSERT_KEY={secret}"),
    token("New Relic license key", HOG, lambda d: d.hex(36) + "NRAL"),
    token("Atlassian token", LEAKS, lambda d: f"ATATT3xFfGF0{d.url(171)}={d.hex(8).upper()}"),
    token("Bitbucket app password", HOG, lambda d: "ATBB" + d.mix(24) + d.hex(8).upper()),
    token("Contentful management token", HOG, lambda d: "CFPAT-" + d.url(43)),
    token("Linear key", LEAKS, lambda d: "lin_api_" + d.mix(40)),
    token("Notion token", LEAKS, lambda d: f"ntn_{d.digits(11)}{d.mix(35)}"),
    token("Notion old secret", HOG, lambda d: "secret_" + d.mix(43)),
    token("Airtable token", "https://airtable.com/developers/web/api/authentication",
          lambda d: f"pat{d.mix(14)}.{d.hex(64)}"),
    token("Discord bot token", "https://discord.com/developers/docs/reference#authentication", discord,
          "Authorization: Bot {secret}"),
    Form("Discord webhook", "url", "https://discord.com/developers/docs/resources/webhook",
          lambda d: f"{d.digits(18)}/{d.url(68)}",
          ("https://discord.com/api/webhooks/{secret}", "WEBHOOK: https://discordapp.com/api/webhooks/{secret}")),
    token("Telegram bot token", "https://core.telegram.org/bots/api#authorizing-your-bot",
          lambda d: f"{d.digits(10)}:AA{d.url(33)}", "https://api.telegram.org/bot{secret}/getMe"),
    token("JSON web token", "https://www.rfc-editor.org/rfc/rfc7519", jwt, "Authorization: Bearer {secret}"),
    token("Docker Hub token", "https://docs.docker.com/security/access-tokens/", lambda d: "dckr_pat_" + d.url(27)),
    token("Doppler token", LEAKS, lambda d: "dp.pt." + d.mix(43)),
    token("1Password service account", LEAKS,
          lambda d: "ops_" + base64.b64encode(b'{"email":"' + d.low(200).encode() + b'"}').decode().rstrip("=")),
    token("Tailscale key", "https://tailscale.com/kb/1085/auth-keys", lambda d: f"tskey-auth-{d.mix(12)}CNTRL-{d.mix(32)}"),
    token("CircleCI token", HOG, lambda d: f"CCIPAT_{d.mix(22)}_{d.hex(40)}"),
    token("PlanetScale password", LEAKS, lambda d: "pscale_pw_" + d.url(43)),
    token("Dynatrace token", LEAKS, lambda d: f"dt0c01.{d.base32(24)}.{d.base32(64)}"),
    token("Dropbox token", LEAKS, lambda d: "sl." + d.url(135)),
    token("HubSpot token", HOG, lambda d: f"pat-na1-{d.uuid()}"),
    token("Plaid token", LEAKS, lambda d: f"access-production-{d.uuid()}"),
    token("Resend key", HOG, lambda d: f"re_{d.mix(8)}_{d.mix(24)}"),
    token("SonarQube token", HOG, lambda d: "squ_" + d.hex(40)),
    token("Alibaba key id", LEAKS, lambda d: "LTAI5t" + d.mix(18)),
    token("Artifactory key", LEAKS, lambda d: "AKCp" + d.mix(69)),
    token("age key", "https://github.com/C2SP/C2SP/blob/main/age.md", age),
)  # fmt: skip

NAMED = (
    named("AWS secret key", LEAKS, lambda d: d.of(BASE64, 40), "aws_secret_access_key = {secret}",
          "AWS_SECRET_ACCESS_KEY={secret}", '"SecretAccessKey": "{secret}"'),
    named("AWS session token", LEAKS, lambda d: "IQoJb3JpZ2luX2Vj" + d.of(BASE64, 180), "aws_session_token={secret}",
          "export AWS_SESSION_TOKEN={secret}"),
    named("Azure storage key", "https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string",
          lambda d: d.base64(64), "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={secret};"
          "EndpointSuffix=core.windows.net", "AZURE_STORAGE_KEY={secret}"),
    named("Azure SAS", "https://learn.microsoft.com/azure/storage/common/storage-sas-overview",
          lambda d: d.base64(32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
          "https://acme.blob.core.windows.net/data/a.csv?sv=2024-11-04&sr=b&sp=r&sig={secret}",
          "SharedAccessSignature sr=acme.example.org&sig={secret}&se=1790000000&skn=root"),
    named("AWS presigned URL", "https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html",
          lambda d: d.hex(64), "https://acme.s3.amazonaws.com/a.csv?X-Amz-Expires=3600&X-Amz-Signature={secret}",
          "https://s3.eu-central-1.amazonaws.com/acme/b?X-Amz-Signature={secret}&X-Amz-SignedHeaders=host"),
    named("Heroku key", LEAKS, lambda d: d.uuid(), "HEROKU_API_KEY={secret}", "heroku_api_key: {secret}"),
    named("Twilio auth token", "https://www.twilio.com/docs/iam/api-keys", lambda d: d.hex(32),
          "TWILIO_AUTH_TOKEN={secret}", 'twilio_auth_token: "{secret}"'),
    named("Facebook app secret", LEAKS, lambda d: d.hex(32), "FACEBOOK_APP_SECRET={secret}",
          "facebook.app.secret = {secret}"),
    named("Vercel token", "https://vercel.com/docs/rest-api#authentication", lambda d: d.mix(24),
          "VERCEL_TOKEN={secret}", "vercel deploy --prod --token {secret}", "vercel --token={secret} ls"),
    named("Contentful delivery token", LEAKS, lambda d: d.url(43), "CONTENTFUL_ACCESS_TOKEN={secret}",
          "contentful_delivery_token: {secret}"),
    named("Datadog key", LEAKS, lambda d: d.hex(32), "DD_API_KEY={secret}", "DD-API-KEY: {secret}"),
    named("Cloudflare token", LEAKS, lambda d: d.url(40), "CLOUDFLARE_API_TOKEN={secret}", "cf_api_token = '{secret}'"),
    named("Mailgun new key", LEAKS, lambda d: f"{d.hex(32)}-{d.hex(8)}-{d.hex(8)}", "MAILGUN_API_KEY={secret}",
          "mailgun_signing_key: {secret}"),
    named("Atlassian old token", LEAKS, lambda d: d.low(20) + d.hex(4), "JIRA_API_TOKEN={secret}",
          "confluence_token: {secret}"),
    named("Discord client secret", LEAKS, lambda d: d.url(32), "DISCORD_CLIENT_SECRET={secret}",
          "discord.client_secret = '{secret}'"),
    named("Okta token", LEAKS, lambda d: "00" + d.url(40), "OKTA_API_TOKEN={secret}", "Authorization: SSWS {secret}"),
    named("Cohere key", LEAKS, lambda d: d.mix(40), "COHERE_API_KEY={secret}", "co_api_key: {secret}"),
    named("Algolia key", LEAKS, lambda d: d.hex(32), "ALGOLIA_ADMIN_KEY={secret}", "X-Algolia-API-Key: {secret}"),
    named("Laravel key", "https://laravel.com/docs/12.x/encryption", lambda d: d.base64(32), "APP_KEY=base64:{secret}",
          'APP_KEY="base64:{secret}"', "'key' => 'base64:{secret}',"),
    named("Rails key", "https://guides.rubyonrails.org/security.html#custom-credentials", lambda d: d.hex(32),
          "RAILS_MASTER_KEY={secret}", "  secret_key_base: {secret}"),
    named("Django key", "https://docs.djangoproject.com/en/5.2/ref/settings/#secret-key",
          lambda d: d.of(string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)", 50),
          "SECRET_KEY = '{secret}'", "SECRET_KEY = 'django-insecure-{secret}'"),
    named("Ethereum key", "https://ethereum.org/developers/docs/accounts/", lambda d: "0x" + d.hex(64),
          "PRIVATE_KEY={secret}", 'privateKey: "{secret}",'),
    named("WireGuard key", "https://www.wireguard.com/quickstart/", lambda d: d.base64(32), "PrivateKey = {secret}",
          "PresharedKey = {secret}"),
    named("one-time password seed", "https://github.com/google/google-authenticator/wiki/Key-Uri-Format",
          lambda d: d.base32(32), "otpauth://totp/Acme:ann?secret={secret}&issuer=Acme", "totp_secret: {secret}"),
    named("client secret", "https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1", lambda d: d.mix(40),
          "client_secret={secret}", '"clientSecret": "{secret}"', "client-secret: {secret}",
          "grant_type=client_credentials&client_id=app&client_secret={secret}&scope=read"),
    named("refresh token", "https://www.rfc-editor.org/rfc/rfc6749#section-1.5", lambda d: d.url(48),
          '"refresh_token": "{secret}"', "REFRESH_TOKEN={secret}"),
    named("signing key", HOG, lambda d: d.base64(48), "JWT_SECRET={secret}", "signing_key: '{secret}'",
          "encryptionKey={secret}"),
    named("password", LEAKS, lambda d: d.password(), "DB_PASSWORD={secret}", "password: {secret}",
          'password = "{secret}"', "spring.datasource.password={secret}", "define('DB_PASSWORD', '{secret}');",
          "MYSQL_ROOT_PASSWORD: '{secret}'", "SMTP_PASS={secret}", "the admin password is {secret}",
          '<add key="Password" value="{secret}" />', "Password: {secret}"),
    named("connection string", "https://learn.microsoft.com/sql/connect/ado-net/connection-string-syntax",
          lambda d: d.password(), "Server=db.example.org;Database=app;User Id=sa;Password={secret};Encrypt=True",
          "host=db.example.org port=5432 user=app password={secret} sslmode=require",
          "jdbc:postgresql://db.example.org/app?user=app&password={secret}", "Driver={SQL Server};UID=sa;PWD={secret};"),
)  # fmt: skip

WEAK = (
    named("weak password", LEAKS, lambda d: d.one("tiger dragon falcon monkey shadow"),
          "db_password: {secret}", "DB_PASSWORD={secret}", 'password = "{secret}"', "passwd: {secret}",
          "the password is {secret}", strength="weak"),
    named("weak word", LEAKS, lambda d: d.one("sunflower summer letmein charlie") + d.digits(1), "password: {secret}",
          "PGPASSWORD={secret}", "pwd={secret}", strength="weak"),
    named("weak key", LEAKS, lambda d: d.digits(8), "API_KEY={secret}", "api-key: {secret}", 'secret = "{secret}"',
          "AUTH_TOKEN={secret}", strength="weak"),
    named("weak pin", LEAKS, lambda d: d.digits(6), "passcode: {secret}", "PIN password: {secret}", strength="weak"),
)  # fmt: skip

HARD = "/@:"


def hard(draw: Draw) -> str:
    """A password with what a URL would have to escape, as people paste it."""
    return f"{draw.plain(5)}{draw.of('@', 1)}{draw.plain(5)}{draw.of('/', 1)}{draw.plain(4)}{draw.of(':', 1)}{draw.mix(3)}"


def escaped(draw: Draw) -> str:
    """Return a password with percent-encoded characters."""
    return f"{draw.plain(6)}%40{draw.plain(5)}%2F{draw.mix(4)}"


SCHEMES = (
    "postgres://app:{secret}@db.example.org:5432/app", "postgresql+asyncpg://app:{secret}@db/app?ssl=require",
    "mysql://root:{secret}@127.0.0.1:3306/shop", "mysql+pymysql://root:{secret}@mysql/shop?charset=utf8mb4",
    "mariadb://app:{secret}@maria.example.org/app", "mongodb://admin:{secret}@mongo:27017/admin?authSource=admin",
    "mongodb+srv://u:{secret}@cluster0.ab1cd.mongodb.net/app?retryWrites=true", "redis://:{secret}@cache:6379/0",
    "rediss://default:{secret}@cache.example.org:6380", "amqp://guest:{secret}@rabbit:5672/%2f",
    "amqps://svc:{secret}@mq.example.org/vhost", "mssql+pyodbc://sa:{secret}@sql.example.org/app",
    "sqlserver://sa:{secret}@sql:1433?database=app", "clickhouse://default:{secret}@ch:9000/logs",
    "cockroachdb://root:{secret}@crdb:26257/bank", "snowflake://ann:{secret}@acme-eu/db/public",
    "oracle+cx_oracle://system:{secret}@ora:1521/XE", "neo4j+s://neo4j:{secret}@graph.example.org",
    "influxdb://writer:{secret}@influx:8086/metrics", "nats://svc:{secret}@nats:4222",
    "couchbase://admin:{secret}@cb.example.org/bucket", "elasticsearch://elastic:{secret}@es:9200",
    "ldap://cn=admin:{secret}@ldap.example.org", "smtp://mailer:{secret}@mail.example.org:587",
    "imaps://ann:{secret}@imap.example.org", "ftp://upload:{secret}@files.example.org/in",
    "sftp://deploy:{secret}@host.example.org/srv", "https://deploy:{secret}@git.example.org/acme/api.git",
    "http://proxyuser:{secret}@proxy.example.org:3128", "mqtt://sensor:{secret}@broker:1883",
    "libsql://app:{secret}@db.turso.io", "cassandra://app:{secret}@cass:9042/ks",
)  # fmt: skip
NO_SLASH = ("ldap", "https", "http", "imaps")
"""Where a raw `/` ends the host beyond doubt, so that nobody can tell."""


def urls() -> Iterator[Form]:
    """Return the forms of URLs with a password."""
    for at, text in enumerate(SCHEMES):
        scheme = text.partition(":")[0]
        make = (
            (Draw.plain, Draw.password, escaped)[at % 3]
            if scheme in NO_SLASH
            else (Draw.plain, hard, escaped)[at % 3]
        )
        kind = f"{scheme} URL"
        yield Form(kind, "url", RFC3986, make, (text, f"DATABASE_URL={text}"))
    for scheme in ("mongodb+srv", "postgres", "redis", "mysql", "amqp"):
        text = next(one for one in SCHEMES if one.startswith(scheme + ":"))
        yield Form(f"{scheme} URL", "url", RFC3986, hard, (f"connect to {text} and look",))


HEADERS = (
    Form("Basic authorization", "header", RFC7235, basic, (
        "Authorization: Basic {secret}", "curl -H 'Authorization: Basic {secret}' https://api.example.org")),
    Form("Bearer authorization", "header", RFC7235, lambda d: d.mix(40), (
        "Authorization: Bearer {secret}", "authorization: bearer {secret}", "> Authorization: Token {secret}")),
    Form("proxy authorization", "header", RFC7235, lambda d: basic(d, "proxy"), ("Proxy-Authorization: Basic {secret}",)),
    Form("API key header", "header", HOG, lambda d: d.mix(36), (
        "X-Api-Key: {secret}", "X-Auth-Token: {secret}", "Ocp-Apim-Subscription-Key: {secret}")),
    Form("Set-Cookie", "header", RFC6265, lambda d: d.url(43), (
        "Set-Cookie: sessionid={secret}; Path=/; HttpOnly; Secure", "set-cookie: __Host-session={secret}; Path=/",
        "< Set-Cookie: JSESSIONID={secret}; Path=/app", "Set-Cookie: auth_token={secret}; Max-Age=3600")),
    Form("Cookie", "header", RFC6265, lambda d: d.url(43), (
        "Cookie: theme=dark; sessionid={secret}; lang=de", "cookie: connect.sid=s%3A{secret}",
        "curl -b 'session={secret}' https://app.example.org", "curl --cookie \"PHPSESSID={secret}\" https://app.example.org")),
    Form("GitLab session cookie", "header", LEAKS, lambda d: d.hex(32), ("Cookie: _gitlab_session={secret}",)),
)  # fmt: skip


def command(name: str, source: str, *texts: str) -> Form:
    """Return the form of a command with a password."""
    return Form(name, "command", source, Draw.plain, texts)


COMMANDS = (
    command("curl user", "https://curl.se/docs/manpage.html#-u", "curl -u admin:{secret} https://api.example.org/v1",
            "curl -s --user admin:{secret} https://api.example.org", "curl -uadmin:{secret} https://api.example.org",
            "curl --user='admin:{secret}' -X POST https://api.example.org", "curl -sSLu 'ann:{secret}' https://x.example.org",
            "curl --proxy-user bob:{secret} https://api.example.org"),
    command("mysql password", "https://dev.mysql.com/doc/refman/8.4/en/command-line-options.html",
            "mysql -u root -p{secret} shop", "mysqldump --password={secret} shop > shop.sql",
            "mysql -uroot -p'{secret}' -h db -e 'show tables'", "mysqladmin -p{secret} status", "MYSQL_PWD={secret} mysql shop"),
    command("sshpass", "https://linux.die.net/man/1/sshpass", "sshpass -p {secret} ssh root@10.0.0.5",
            "sshpass -p'{secret}' scp a root@10.0.0.5:", "SSHPASS={secret} sshpass -e ssh host"),
    command("PGPASSWORD", "https://www.postgresql.org/docs/current/libpq-envars.html",
            "PGPASSWORD={secret} psql -h db -U app", "export PGPASSWORD='{secret}'",
            "docker exec -e PGPASSWORD={secret} db psql -U app"),
    command("redis-cli password", "https://redis.io/docs/latest/develop/tools/cli/", "redis-cli -h cache -a {secret} ping",
            "redis-cli --pass {secret} info", "REDISCLI_AUTH={secret} redis-cli ping"),
    command("mongosh password", "https://www.mongodb.com/docs/mongodb-shell/reference/options/",
            "mongosh --username admin --password {secret} mongodb://mongo", "mongodump -u admin -p {secret} --db app"),
    command("docker login", "https://docs.docker.com/reference/cli/docker/login/",
            "docker login -u ann -p {secret} registry.example.org", "docker login --username ann --password {secret}",
            "helm registry login -u ann -p {secret} registry.example.org", "echo {secret} | docker login -u ann --password-stdin"),
    command("wget password", "https://www.gnu.org/software/wget/manual/wget.html",
            "wget --user=ann --password={secret} https://files.example.org/a.zip", "wget --http-password={secret} https://x"),
    command("openssl password", "https://docs.openssl.org/master/man1/openssl-passphrase-options/",
            "openssl rsa -in key.pem -passin pass:{secret} -out plain.pem", "openssl enc -aes-256-cbc -k {secret} -in a -out b"),
    command("Windows password", "https://learn.microsoft.com/windows-server/administration/windows-commands/net-user",
            "net use Z: \\\\nas\\share {secret} /user:ann", "smbclient //nas/share -U ann%{secret}",
            "mount -t cifs //nas/share /mnt -o username=ann,password={secret}", "cmdkey /add:nas /user:ann /pass:{secret}"),
    command("archive password", "https://linux.die.net/man/1/zip", "zip -P {secret} -r a.zip data", "7z x -p{secret} a.7z",
            "unzip -P {secret} a.zip", "gpg --batch --passphrase {secret} -d a.gpg"),
    command("LDAP password", "https://www.openldap.org/software/man.cgi?query=ldapsearch",
            "ldapsearch -x -D cn=admin -w {secret} -b dc=example", "ansible-playbook a.yml -e ansible_password={secret}"),
    command("login command", "https://learn.microsoft.com/cli/azure/reference-index#az-login",
            "az login --service-principal -u app -p {secret} --tenant acme", "gh secret set TOKEN --body {secret}",
            "oc login --token={secret} https://api.example.org:6443", "kubectl create secret generic db --from-literal=password={secret}",
            "aws configure set aws_secret_access_key {secret}", "htpasswd -bc .htpasswd ann {secret}"),
)  # fmt: skip

FILES = (
    Form("netrc", "file", "https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html", Draw.plain,
         ("machine api.example.org login ann password {secret}", "machine git.example.org\n  login ann\n  password {secret}")),
    Form("Docker config", "file", "https://docs.docker.com/reference/cli/docker/login/#credential-stores", basic,
         ('{"auths": {"https://index.docker.io/v1/": {"auth": "{secret}"}}}',
          '{\n  "auths": {\n    "ghcr.io": {\n      "auth": "{secret}"\n    }\n  }\n}')),
    Form("kubeconfig", "file", "https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/",
         lambda d: base64.b64encode(b"-----BEGIN EC PRIVATE KEY-----\n" + d.body(d.bytes(118)).encode()).decode(),
         ("    client-key-data: {secret}", "users:\n- name: ann\n  user:\n    client-key-data: {secret}")),
    Form("kubeconfig token", "file", "https://kubernetes.io/docs/reference/access-authn-authz/authentication/", jwt,
         ("users:\n- name: ann\n  user:\n    token: {secret}",)),
    Form("Kubernetes secret", "file", "https://kubernetes.io/docs/concepts/configuration/secret/",
         lambda d: base64.b64encode(d.password(18).encode()).decode(),
         ("apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: {secret}",
          "kind: Secret\ndata:\n  token: {secret}\ntype: Opaque")),
    Form("npmrc", "file", "https://docs.npmjs.com/cli/v11/configuring-npm/npmrc", lambda d: d.uuid(),
         ("//npm.example.org/:_authToken={secret}", "registry=https://npm.example.org\n//npm.example.org/:_authToken={secret}")),
    Form("npmrc password", "file", "https://docs.npmjs.com/cli/v11/configuring-npm/npmrc", basic,
         ("//npm.example.org/:_auth={secret}", "//npm.example.org/:_password={secret}")),
    Form("pypirc", "file", "https://packaging.python.org/en/latest/specifications/pypirc/", Draw.password,
         ("[pypi]\nusername = ann\npassword = {secret}",)),
    Form("pgpass", "file", "https://www.postgresql.org/docs/current/libpq-pgpass.html", Draw.plain,
         ("db.example.org:5432:app:ann:{secret}", "*:5432:*:postgres:{secret}")),
    Form("my.cnf", "file", "https://dev.mysql.com/doc/refman/8.4/en/option-files.html", Draw.password,
         ("[client]\nuser=root\npassword={secret}", '[mysqldump]\npassword="{secret}"')),
    Form("htpasswd", "file", "https://httpd.apache.org/docs/2.4/misc/password_encryptions.html",
         lambda d: f"$apr1${d.of('./' + BASE62, 8)}${d.of('./' + BASE62, 22)}", ("ann:{secret}", "htpasswd: ann:{secret}")),
    Form("bcrypt hash", "file", "https://httpd.apache.org/docs/2.4/misc/password_encryptions.html",
         lambda d: f"$2y$10${d.of('./' + BASE62, 53)}", ("ann:{secret}", "password_hash = '{secret}'")),
    Form("shadow", "file", "https://man7.org/linux/man-pages/man5/crypt.5.html",
         lambda d: f"$6${d.of('./' + BASE62, 16)}${d.of('./' + BASE62, 86)}", ("root:{secret}:19800:0:99999:7:::",)),
    Form("git credentials", "file", "https://git-scm.com/docs/git-credential-store", lambda d: d.mix(40),
         ("https://ann:{secret}@git.example.org", "protocol=https\nhost=git.example.org\nusername=ann\npassword={secret}")),
    Form("Wi-Fi key", "file", "https://w1.fi/cgit/hostap/plain/wpa_supplicant/wpa_supplicant.conf", Draw.plain,
         ('network={\n  ssid="home"\n  psk="{secret}"\n}', "wpa_passphrase={secret}", "WIFI:T:WPA;S:home;P:{secret};;")),
    Form("Terraform variables", "file", "https://developer.hashicorp.com/terraform/language/values/variables", Draw.password,
         ('db_password = "{secret}"\nregion = "eu"', 'variable "db_password" {\n  default = "{secret}"\n}')),
    Form("GCP service account", "file", "https://cloud.google.com/iam/docs/keys-create-delete",
         lambda d: d.body(b"\x30\x82\x04\xbd" + d.bytes(620)).replace("\n", "\\n"),
         ('{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n{secret}\\n-----END PRIVATE KEY-----\\n"}',)),
    Form("JSON web key", "file", "https://www.rfc-editor.org/rfc/rfc7518#section-6.2.2", lambda d: d.url(43),
         ('{"kty":"EC","crv":"P-256","x":"f83OJ3D2","y":"x_FEzRu9","d":"{secret}"}',)),
)  # fmt: skip


def block(name: str, source: str, begin: str, end: str, make: Callable[[Draw], str]) -> Form:
    """Return the form of a block of several lines."""
    return Form(
        name,
        "block",
        source,
        make,
        (f"{begin}\n{{secret}}\n{end}", f"the key:\n\n{begin}\n{{secret}}\n{end}\n\nuse it"),
    )


def pem(label: str, head: bytes, size: int, extra: str = "") -> Form:
    """Return the form of a PEM block."""
    begin, end = f"-----BEGIN {label}-----", f"-----END {label}-----"
    return block(label.lower(), RFC7468, begin + extra, end, lambda d: d.body(head + d.bytes(size)))


BLOCKS = (
    pem("RSA PRIVATE KEY", b"\x30\x82\x04\xa4\x02\x01\x00", 600),
    pem("EC PRIVATE KEY", b"\x30\x77\x02\x01\x01\x04\x20", 114),
    pem("DSA PRIVATE KEY", b"\x30\x82\x01\xbb\x02\x01\x00", 440),
    pem("PRIVATE KEY", b"\x30\x2e\x02\x01\x00\x30\x05", 300),
    pem("ENCRYPTED PRIVATE KEY", b"\x30\x82\x05\x1a\x30\x44", 600),
    block("openssh private key", OPENSSH, "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----",
          lambda d: d.body(b"openssh-key-v1\0\0\0\0\x04none" + d.bytes(360), 70)),
    block("pgp private key", "https://www.rfc-editor.org/rfc/rfc4880#section-6.2",
          "-----BEGIN PGP PRIVATE KEY BLOCK-----\n", "-----END PGP PRIVATE KEY BLOCK-----", pgp),
    block("rsa key with headers", "https://www.rfc-editor.org/rfc/rfc1421#section-4.6",
          "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,8F3AC1\n",
          "-----END RSA PRIVATE KEY-----", lambda d: d.body(d.bytes(600))),
    block("ssh2 private key", "https://www.rfc-editor.org/rfc/rfc4716", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
          "---- END SSH2 ENCRYPTED PRIVATE KEY ----", lambda d: d.body(d.bytes(400), 70)),
    block("putty key", "https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html",
          "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: ann\nPrivate-Lines: 1", "Private-MAC: 00ff",
          lambda d: d.base64(36)),
)  # fmt: skip


def samples(seed: str) -> Iterator[dict[str, object]]:
    """Return all samples."""
    counts: dict[str, int] = {}
    for form in (*TOKENS, *NAMED, *WEAK, *urls(), *HEADERS, *COMMANDS, *FILES, *BLOCKS):
        first = sum(map(ord, form.name))  # not `hash`, which differs from run to run
        more = (
            [ANYWHERE[(first + at) % len(ANYWHERE)] for at in range(2)]
            if form.kind == "token"
            else []
        )
        variable = form.name.upper().replace(" ", "_").replace(".", "_").replace("-", "_")
        whole = (*form.texts, *more)
        for text in whole[: max(2, len(form.texts))]:
            counts[form.name] = counts.get(form.name, 0) + 1
            secret = form.make(Draw(f"{seed} {form.name} {counts[form.name]}"))
            cut = next(
                (at + 1 for at, char in enumerate(secret[:14]) if char in "_-."), len(secret) // 2
            )
            yield {
                "form": form.name, "kind": form.kind, "strength": form.strength, "source": form.source,
                "text": text.replace("{name}", variable), "parts": [secret[:cut], secret[cut:]],
            }  # fmt: skip


def main() -> None:
    """Write the samples."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=FILE)
    parser.add_argument("--seed", default="heron")
    given = parser.parse_args()
    made = list(samples(given.seed))
    given.file.write_text(
        "[\n" + ",\n".join(json.dumps(sample, ensure_ascii=False) for sample in made) + "\n]\n",
        encoding="utf-8",
    )
    print(
        f"{len(made)} samples of {len({sample['form'] for sample in made})} forms in {given.file}"
    )


if __name__ == "__main__":
    main()
