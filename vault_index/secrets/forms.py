"""The token formats that services document, as data.

A search for the literal of a form costs a fraction of a regular expression, which is tried only at
the literal. Each repetition is bounded or ends the pattern, so that no text makes it slow.
"""

from typing import NamedTuple

# A token begins with a word, or after an escaped line break (`\n` in JSON).
START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9])"
# The end of a token that may hold `-` and `_`. The `_` of an emphasis or a full stop ends it, too.
_END_OF_WORD = r"(?!_{0,2}[A-Za-z0-9-])"
_END_OF_PARTS = r"(?!_{0,2}[A-Za-z0-9~-]|\.[A-Za-z0-9])"
# A token that could be a name holds a digit.
_DIGIT = r"(?=[A-Za-z_-]{0,40}\d)"
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_HOST = r"@[\w\[%$-]"
_NOT_IN_URLS = r"""\s"'<>`"""


class Form(NamedTuple):
    """The format of a token."""

    kind: str
    literals: tuple[str, ...]
    """The possible beginnings of `expression`. If empty, `expression` searches all long words."""
    expression: str
    """The pattern; the secret is its group, or else the whole match."""
    before: str = ""
    """Pattern of the beginning of the secret, before the literal: at most `LONGEST_BEFORE` long."""


LONGEST_BEFORE = 80


def _begins(kind: str, prefix: str, rest: str) -> Form:
    """Return a form with a unique prefix."""
    return Form(kind, (prefix,), START + prefix.replace(".", r"\.").replace("$", r"\$") + rest)


FORMS = (
    # Code and packages
    _begins("a GitHub token", "github_pat_", r"\w{22,}"),
    Form("a GitHub token", ("gh",), START + r"gh[pousr]_[A-Za-z0-9]{30,}"),
    Form(
        "a GitLab token",
        ("gl",),
        START + r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[\w.-]{20,}",
    ),
    Form("a GitLab token", ("GR1348941",), START + r"GR1348941[\w-]{20,}"),
    Form("a Bitbucket password", ("ATBB",), START + r"ATBB[A-Za-z0-9]{24,}"),
    Form(
        "an Atlassian API token", ("ATATT3", "ATCTT3", "ATSTT3"), START + r"AT[ACS]TT3[\w=-]{40,}"
    ),
    _begins("an npm token", "npm_", r"[A-Za-z0-9]{36,}"),
    _begins("a PyPI token", "pypi-Ag", r"[\w-]{30,}"),
    _begins("a RubyGems key", "rubygems_", r"[0-9a-f]{40,}"),
    _begins("a crates.io token", "cio", r"(?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}" + _END),
    _begins("a NuGet key", "oy2", r"[a-z0-9]{43}" + _END),
    _begins("a Clojars token", "CLOJARS_", r"[a-z0-9]{50,}"),
    _begins("a Docker token", "dckr_", r"[po]at_[\w-]{20,}"),
    _begins("an Artifactory key", "AKCp", r"[A-Za-z0-9]{60,}"),
    _begins("an Artifactory token", "cmVmdGtu", r"[A-Za-z0-9]{50,}"),
    Form("a SonarQube token", ("sqp_", "squ_", "sqa_"), START + r"sq[pua]_[0-9a-f]{40}" + _END),
    _begins("a Sourcegraph token", "sgp_", r"(?:local_|[0-9a-fA-F]{16}_)?[0-9a-fA-F]{40}"),
    _begins("a Buildkite token", "bkua_", r"[0-9a-f]{40}"),
    Form(
        "a CircleCI token",
        ("CCIPAT_", "CCIPRJ_"),
        START + r"CCIP(?:AT|RJ)_[A-Za-z0-9]{10,}_[0-9a-f]{40}",
    ),
    _begins("a Snyk token", "snyk_", r"(?:uat|sat)\.[0-9a-f]{8}\.[\w.-]{20,}"),
    _begins("a Postman key", "PMAK-", r"[0-9a-f]{20,}(?:-[0-9a-f]{20,})?"),
    Form("a Figma token", ("fig",), START + r"fig(?:d|o|oh|or|u|ur)_[\w-]{36,}"),
    _begins("a JetBrains token", "perm:", r"[\w=+/-]{10,}\.[\w=+/-]{2,}\.[\w=+/-]{20,}"),
    # Models
    _begins("an Anthropic API key", "sk-ant-", r"[\w-]{16,}"),
    _begins("an OpenRouter API key", "sk-or-v1-", r"[0-9a-f]{32,}"),
    _begins("a Langfuse key", "sk-lf-", _UUID),
    Form(
        "an OpenAI API key",
        ("sk-",),
        START
        + r"sk-(?:(?:proj|svcacct|admin|service|None)-[\w-]{16,}|[A-Za-z0-9]{20,}"
        + _END_OF_WORD
        + ")",
    ),
    _begins("a Groq API key", "gsk_", r"[A-Za-z0-9]{40,}"),
    _begins("an xAI API key", "xai-", r"[A-Za-z0-9]{60,}"),
    _begins("a Perplexity API key", "pplx-", r"[A-Za-z0-9]{40,}"),
    _begins("a Replicate token", "r8_", r"[A-Za-z0-9]{36,}"),
    Form("a Hugging Face token", ("hf_",), START + r"hf_[A-Za-z0-9]{30,}" + _END),
    _begins("a Hugging Face token", "api_org_", r"[A-Za-z0-9]{34}" + _END),
    _begins("a Cerebras API key", "csk-", r"[a-z0-9]{40,}"),
    _begins("an NVIDIA API key", "nvapi-", r"[\w-]{50,}"),
    _begins("a Fireworks API key", "fw_", r"(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}" + _END),
    _begins("a Together API key", "tgp_v1_", r"[\w-]{40,}"),
    _begins("a LangSmith key", "lsv2_", r"[ps][tk]_[0-9a-f]{32}_[0-9a-f]{10}"),
    _begins("a Pinecone key", "pcsk_", r"[A-Za-z0-9]{4,}_[A-Za-z0-9]{50,}"),
    _begins("a Tavily key", "tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{32,}"),
    _begins("a Firecrawl key", "fc-", r"[0-9a-f]{32}" + _END),
    _begins("an E2B key", "e2b_", r"[0-9a-f]{40}"),
    _begins("a Cursor key", "key_", r"[0-9a-f]{64}"),
    _begins("an ElevenLabs key", "sk_", r"[0-9a-f]{48}" + _END),
    # Clouds
    Form(
        "an AWS access key",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        START + r"A(?:[KS]IA|BIA|CCA)[A-Z0-9]{16}" + _END,
    ),
    _begins("an AWS Bedrock key", "ABSK", r"[A-Za-z0-9+/]{100,}={0,2}"),
    _begins("an AWS MWS key", "amzn.mws.", _UUID),
    _begins("a Google API key", "AIza", r"[\w-]{35}" + _END_OF_WORD),
    _begins("a Google OAuth secret", "GOCSPX-", r"[\w-]{24,}"),
    _begins("a Google OAuth token", "ya29.", r"[\w-]{20,}"),
    _begins("a Google OAuth token", "1//0", r"[\w-]{36,}"),
    _begins("a Google storage key", "GOOG1", r"[A-Z0-9]{20,}"),
    Form("an Azure storage key", ("AccountKey=",), r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})"),
    Form(
        "an Azure access key", ("SharedAccessKey=",), r"SharedAccessKey=([A-Za-z0-9+/]{40,}={0,2})"
    ),
    Form("an Azure access signature", ("sig=",), START + r"sig=([A-Za-z0-9%+/_-]{40,}={0,2})"),
    Form(
        "an Azure client secret",
        ("Q~",),
        r"Q~[\w~.-]{31,34}" + _END_OF_PARTS,
        before=r"(?:(?<![A-Za-z0-9~.-])|(?<=\\[nrt]))[A-Za-z0-9~.-][\w~.-]{2}\d",
    ),
    Form(
        "an Azure DevOps token",
        ("AZDO",),
        r"AZDO[A-Za-z0-9]{4}" + _END,
        before=START + "[A-Za-z0-9]{76}",
    ),
    Form(
        "an Azure access key",
        ("APIM", "ACDb", "+ABa", "+AMC", "+ASt", "AzSe", "AzFu", "AzCa"),
        r"(?:APIM|ACDb|\+ABa|\+AMC|\+ASt|AzSe|AzFu|AzCa)[A-Za-z0-9+/_-]{5,6}(?:={1,2}|"
        + _END
        + ")",
        before=r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{33,76}",
    ),
    Form("an Alibaba key", ("LTAI",), START + r"LTAI[A-Za-z0-9]{12,}" + _END),
    Form("a Tencent key", ("AKID",), START + r"AKID[A-Za-z0-9]{32}" + _END),
    Form("a Yandex key", ("AQVN",), START + r"AQVN[\w-]{35,38}" + _END),
    Form("a DigitalOcean token", ("_v1_",), r"_v1_[0-9a-f]{64}", before=START + "do[opr]"),
    _begins("a Heroku key", "HRKU-", r"[\w-]{36,}"),
    _begins("a Cloudflare key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    Form(
        "a Cloudflare token", ("cfut_", "cfat_", "cfk_"), START + r"cf(?:ut|at|k)_[A-Za-z0-9]{40,}"
    ),
    Form(
        "a Fly token",
        ("fo1_", "fm1", "fm2_"),
        START + r"(?:fo1_[\w-]{40,}|fm(?:1[ar]|2)_[A-Za-z0-9+/=_-]{60,})",
    ),
    Form("a Netlify token", ("nf",), START + r"nf[pcoub]_[A-Za-z0-9]{30,}"),
    _begins("a Vercel token", "vercel_blob_rw_", r"\w{30,}"),
    Form(
        "a Vercel token",
        ("vcp_", "vci_", "vca_", "vcr_", "vck_"),
        START + r"vc[piark]_[A-Za-z0-9]{24,}",
    ),
    _begins("a Supabase token", "sbp_", r"(?:oauth_|v0_)?[0-9a-f]{40}"),
    _begins("a Supabase key", "sb_secret_", r"[\w-]{20,}"),
    _begins("a Neon key", "napi_", r"[a-z0-9]{50,}"),
    _begins("a Neon password", "npg_", r"(?=[A-Za-z]{0,11}\d)[A-Za-z0-9]{12,}"),
    _begins("a PlanetScale token", "pscale_", r"(?:tkn|oauth|pw)_[\w=.-]{32,}"),
    _begins("a Databricks token", "dapi", r"[0-9a-f]{32}(?:-\d)?" + _END),
    _begins("a Deno token", "ddp_", r"[A-Za-z0-9]{36}" + _END),
    _begins("a Render key", "rnd_", _DIGIT + r"[A-Za-z0-9]{28,}"),
    _begins("a Scalingo token", "tk-us-", r"[\w-]{48}"),
    # Infrastructure and secrets
    Form("a Vault token", ("hvs.", "hvb.", "hvr."), START + r"hv[sbr]\.[\w-]{20,}"),
    Form(
        "a Vault token",
        ("s.", "b.", "r."),
        r"(?:(?<![A-Za-z0-9.)\]-])|(?<=\\[nrt]))[sbr]\."
        r"(?=[A-Za-z]{0,22}\d)(?=[^A-Z]{0,22}[A-Z])(?=[^a-z]{0,22}[a-z])[A-Za-z0-9]{24}(?![(])"
        + _END_OF_PARTS,
    ),
    Form(
        "a Terraform token",
        (".atlasv1.",),
        r"\.atlasv1\.[\w-]{50,}",
        before=START + "[A-Za-z0-9]{14}",
    ),
    _begins("a Pulumi token", "pul-", r"[0-9a-f]{40}"),
    _begins(
        "a Doppler token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,}"
    ),
    _begins("a 1Password token", "ops_eyJ", r"[A-Za-z0-9+/=_-]{100,}"),
    _begins(
        "a 1Password key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    _begins("an Infracost key", "ico-", r"[A-Za-z0-9]{32}" + _END),
    _begins("an OpenShift token", "sha256~", r"[\w-]{43}"),
    _begins("a Tailscale key", "tskey-", r"[a-z]{3,10}-[A-Za-z0-9]{6,}-[A-Za-z0-9]{16,}"),
    _begins("an Octopus key", "API-", r"(?=[A-Z]{0,25}\d)[A-Z0-9]{25,32}" + _END),
    _begins("a Prefect key", "pnu_", r"[A-Za-z0-9]{36}" + _END),
    _begins("a Harness token", "pat.", r"[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    _begins("an age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    # Monitoring
    _begins("a Sentry token", "sntrys_", r"[\w+/=-]{40,}"),
    _begins("a Sentry token", "sntryu_", r"[0-9a-f]{40,}"),
    _begins("a Grafana token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _begins("a Grafana token", "glc_", r"[A-Za-z0-9+/=_-]{32,}"),
    Form("a Grafana key", ("eyJrIjoi",), START + r"eyJrIjoi[A-Za-z0-9+/]{40,}={0,2}"),
    Form(
        "a New Relic key",
        ("NRAK-", "NRII-", "NRJS-", "NRRA-", "NRIQ-", "NRBR-"),
        START + r"NR[A-Z]{2}-[\w-]{19,}",
    ),
    Form("a New Relic key", ("NRAL",), "NRAL" + _END, before=START + "[0-9a-fA-Fx]{36}"),
    _begins("a Dynatrace token", "dt0", r"[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    Form("a PostHog key", ("phx_", "phs_"), START + r"ph[xs]_[A-Za-z0-9]{32,}"),
    Form("a LaunchDarkly key", ("sdk-", "api-"), START + "(?:sdk|api)-" + _UUID),
    _begins("a Honeycomb key", "hca", r"(?:ik|lk|mk)_[a-z0-9]{50,}"),
    # Payments and shops
    Form(
        "a Stripe key",
        ("k_live_", "k_test_"),
        r"k_(?:live|test)_[A-Za-z0-9]{16,}",
        before=START + "[sr]",
    ),
    _begins("a Stripe webhook secret", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    _begins("a Shopify token", "shp", r"(?:at|ca|pa|ss|ua|it)_[0-9a-fA-F]{32}"),
    _begins("a Square token", "sq0", r"(?:atp|csp|csb|acp)-[\w-]{20,}"),
    Form(
        "a Square token",
        ("EAAA",),
        START + r"EAAA(?=[A-Za-z_-]{0,59}\d)[\w-]{56,60}" + _END_OF_WORD,
    ),
    Form(
        "a Braintree token",
        ("access_token$",),
        START + r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}",
    ),
    _begins("a Plaid token", "access-", r"(?:sandbox|development|production)-" + _UUID),
    Form("a Flutterwave key", ("FLWSECK",), START + r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,}(?:-X)?"),
    _begins("an EasyPost key", "EZ", r"[AT]K[A-Za-z0-9]{54}"),
    _begins("a Shippo token", "shippo_", r"(?:live|test)_[0-9a-f]{40}"),
    _begins("a Duffel token", "duffel_", r"(?:test|live)_[\w=-]{40,}"),
    Form(
        "a Coinbase key",
        ("organizations/",),
        r"organizations/" + _UUID + r"/apiKeys/(" + _UUID + ")",
    ),
    # Mail and chat
    _begins("a SendGrid API key", "SG.", r"[\w-]{16,32}\.[\w-]{16,64}" + _END_OF_WORD),
    _begins("a Mailgun key", "key-", r"[0-9a-z]{32}" + _END),
    Form("a Mailgun key", (), START + r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9-])"),
    Form("a Mailchimp key", ("-us",), r"-us\d{1,2}" + _END, before=START + "[0-9a-f]{32}"),
    _begins("a Mandrill key", "md-", r"(?=[A-Za-z_-]{0,21}\d)[\w-]{22}" + _END_OF_WORD),
    Form(
        "a Brevo key",
        ("xkeysib-", "xsmtpsib-"),
        START + r"x(?:key|smtp)sib-[0-9a-f]{40,}(?:-[A-Za-z0-9]{8,})?",
    ),
    _begins("a Resend key", "re_", r"(?=[A-Za-z_]{0,31}\d)[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    Form("a Twilio key", ("SK", "AC"), START + "(?:SK|AC)[0-9a-f]{32}" + _END),
    Form("a Slack token", ("xox",), START + r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
    Form("a Slack token", ("xapp-", "xwfp-"), START + r"x(?:app-\d|wfp)-[A-Za-z0-9-]{10,}"),
    Form(
        "a Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9/]{8,})",
    ),
    Form("a Discord webhook", ("/api/webhooks/",), r"/api/webhooks/\d{15,21}/([\w-]{50,})"),
    Form(
        "a Teams webhook", ("/IncomingWebhook/",), r"/IncomingWebhook/([0-9a-f]{32}/[0-9a-f-]{36})"
    ),
    Form(
        "a Zapier webhook",
        ("hooks.zapier.com/",),
        r"hooks\.zapier\.com/hooks/catch/(\d{4,12}/\w{5,20})",
    ),
    Form(
        "a Telegram bot token",
        (":AA",),
        r":AA[\w-]{32,33}" + _END_OF_WORD,
        before=r"(?<!\d)\d{8,10}",
    ),
    # The id of a bot is a number in base64; the parts after it are a time and a signature.
    Form(
        "a Discord bot token",
        (),
        r"\.[\w-]{6}\.[\w-]{27,40}" + _END_OF_PARTS,
        before=r"(?:(?<![A-Za-z0-9-])|(?<=\\[nrt]))[MNO][A-Za-z0-9_-]{22,27}",
    ),
    # Other services and keys
    Form(
        "an application key",
        ("base64:",),
        START + r"base64:([A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{22}==)",
    ),
    Form(
        "a password hash",
        ("$2", "$1$", "$5$", "$6$", "$7$", "$y$", "$apr1$"),
        r"\$(?:2[abxy]?\$\d\d|[1567y]|apr1)\$([\w./=$-]{20,200})",
    ),
    Form("a password hash", ("p=",), START + r"p=\d{1,2}\$[A-Za-z0-9+/]{11,}\$[A-Za-z0-9+/]{16,}"),
    Form("a recovery key", (), r"(?<![\d-])\d{6}(?:-\d{6}){7}(?![\d-])"),
    # Lines of .pgpass: host, port, database, user, password.
    Form(
        "a password",
        (":543", ":*:"),
        r":(?:543\d|\*):(?!\d+:)[^:\s]{1,63}:(?!\d+:)[^:\s]{1,63}:([^\s:]{4,})",
    ),
    Form(
        "a Facebook token",
        ("EAA",),
        START + r"EAA(?!\w{3,100}AA\w{1,60}AA)(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{70,}",
    ),
    Form(
        "a Facebook token",
        ("|",),
        r"\|(?=[A-Za-z_-]{0,26}\d)[\w-]{27}" + _END_OF_WORD,
        before=r"(?<!\d)\d{13,17}",
    ),
    Form("a signed address", ("hc-ping.com/",), r"hc-ping\.com/(" + _UUID + ")"),
    _begins("a Notion token", "ntn_", r"[A-Za-z0-9]{40,}"),
    _begins("a Notion token", "secret_", r"(?=[A-Za-z]{0,42}\d)[A-Za-z0-9]{43}" + _END),
    Form("a Linear key", ("lin_api_", "lin_oauth_"), START + r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _begins("an Airtable token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Form("an Asana token", ("1/", "2/"), START + r"[12]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}"),
    Form("a HubSpot token", ("pat-",), START + r"pat-[a-z]{2}\d-" + _UUID),
    _begins("a Contentful token", "CFPAT-", r"[\w-]{40,}"),
    _begins("a Dropbox token", "sl.", r"(?=[A-Za-z_.-]{0,40}\d)[\w.-]{100,}"),
    _begins("a Mapbox token", "sk.eyJ", r"[\w-]{40,}\.[\w-]{20,}"),
    _begins("a Typeform token", "tfp_", r"[\w.=-]{40,}"),
    _begins("a Frame.io token", "fio-u-", r"[\w=-]{40,}"),
    _begins("a ReadMe key", "rdme_", r"[a-z0-9]{60,}"),
    _begins("an Adafruit key", "aio_", r"[A-Za-z0-9]{28}" + _END),
    _begins("a Todoist token", "todoist_", r"[0-9a-f]{40}"),
    _begins("a WorkOS key", "sk_", r"a2V5X[A-Za-z0-9]{20,}"),
    Form("a signed address", ("-Signature=",), r"-Signature=([0-9a-f]{64,})"),
    # A header says how the token is signed or encrypted; the parts may stand in the lines below.
    Form(
        "a JSON web token",
        ("eyJ",),
        START + r"eyJ(?!hbGciOiJub25l)(?:[\w-]{8,8000}\.eyJ[\w-]{8,8000}(?:\.[\w-]+)*"
        r"|(?:hbGciOi|0eXAiOi|raWQiOi|lbmMiOi|4NXQiOi|jdHkiOi)[\w-]{1,8000}(?:\.[\w-]{8,8000})+)",
    ),
)

# Their secrets may hold characters that end a word.
ADDRESSES = (
    Form(
        "a password in a URL",
        ("://",),
        rf"(?<=[A-Za-z0-9+])://[^:/?#@{_NOT_IN_URLS}]{{0,100}}:([^/@{_NOT_IN_URLS}]{{1,2000}}"
        rf"(?:@[^/@{_NOT_IN_URLS}]{{1,100}}){{0,3}}){_HOST}",
    ),
    Form("a token in a URL", ("://",), rf"://(?=[A-Za-z_-]{{0,40}}\d)([\w-]{{20,200}}){_HOST}"),
    # Passwords in database URLs are often not percent-encoded. A number is a port.
    Form(
        "a password in a URL",
        ("://",),
        rf"(?<!http)(?<!https)(?<=[a-z0-9])://[^:/?#@{_NOT_IN_URLS}]{{1,100}}:(?!\d{{1,5}}[/?#])"
        rf"((?:(?!://)[^{_NOT_IN_URLS}]){{1,200}}){_HOST}",
    ),
    Form(
        "a one-time secret",
        ("otpauth://",),
        rf"otpauth://[^{_NOT_IN_URLS}]{{0,200}}?secret=([A-Za-z2-7]{{16,}})",
    ),
    Form(
        "a password in a URL",
        ("jdbc:oracle:",),
        rf"jdbc:oracle:\w{{1,9}}:[^/@\s]{{1,100}}/([^@{_NOT_IN_URLS}]{{1,200}})@",
    ),
)
