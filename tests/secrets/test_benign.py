"""What looks like a credential from afar and is none: nothing of it is redacted, refused, or warned of."""

from pathlib import Path

from benchmarks.credentials import Counted, judge, logs, texts

ROOT = Path(__file__).parents[2]
LINES = """\
commit 3f6d2b81e09a4c75d6e1b20f8a9c3d4e5f607182
index 3f6d2b8..b81e09a 100644
sha256:9a4c75d6e1b20f8a9c3d4e5f607182b3c4d5e6f708192a3b4c5d6e7f8091a2b3
"integrity": "sha512-aYVTmBh1qYqBqXh9B0Fq3kQ2m8nQeJx2P5s7wZyRk1vUoLgTnCdEbHiMjWpSfXaA4V6t0K3zN8rG5uYlI2oQ==",
h1:qYqBqXh9B0Fq3kQ2m8nQeJx2P5s7wZyRk1vUoLgTnCd=
request 7c9e6679-7425-40de-944b-e07fc1f90ae7 took 31 ms
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK1vUoLgTnCdEbHiMjWpSfXaA4V6t0K3zN8rG5uYlI2o ann@host
DB_PASSWORD=${DB_PASSWORD}
password: ${{ secrets.DB_PASSWORD }}
password: {{ vault_db_password }}
password: <your password>
password: changeme-before-use-in-production is what the template says
api_key = os.environ["API_KEY"]
token = settings.token or read_token(path)
const token = await getToken(user.id);
password: str = field(default="", repr=False)
secret: bool = False
if password != confirm_password: raise ValueError("passwords differ")
PGPASSWORD=$(pass show db/app) psql -h db
curl -u "$USER:$PASS" https://api.example.org
curl -u https://api.example.org
mysql -p shop
mysql -u root -p
docker run -p 8080:80 nginx
docker login -u ann --password-stdin registry.example.org
ssh -p 2222 root@10.0.0.5
mkdir -p /srv/data/cache
redis-cli -a
7z x -pthe-dots a.7z is not a thing that anybody writes
postgres://$USER:$PASSWORD@db.example.org/app
redis://cache:6379/0
https://example.org:8443/a@b/c:d
git@github.com:acme/api.git
ann@example.org wrote at 10:30: see https://example.org/x
Authorization: Bearer $TOKEN
Authorization: Basic <base64 of user:password>
curl -H "Authorization: Bearer $(cat token.txt)" https://api.example.org
Set-Cookie: theme=dark; Path=/
Cookie: lang=de; theme=dark
APP_KEY=base64:
APP_KEY=
_authToken=${NPM_TOKEN}
machine api.example.org login ann password
the password is wrong
The token is invalid or expired.
secret: none
passwords: they are hashed with bcrypt, cost 12
max_tokens=4096 input_tokens: 18733
token: 42 of 128
key: value
public_key: ssh.pub
sort_key = created_at
cache_key = f"{user.id}:{page}"
the secret ingredient: cinnamon
Secret Santa: draw names on Friday
token ring networks, tokens of appreciation, tokenizer: cl100k_base
keyboard: US international
pass: the exam was passed by all
skip-the-line tickets, sk-learn, task-list-item-checkbox-and-label-for-this-view
sk_buff is freed in __kfree_skb, see net/core/skbuff.c
xai-org/grok, pul-down, key-value-store-benchmark-results-2026
https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLFgquLnL59alCl_2TQvOiD5Vgm1hCaGSI
https://example.org/login?next=%2Fhome&token_type=bearer
\x1b[31merror\x1b[0m: token expected, got end of line
\\u001b[31mpassword\\u001b[0m must not be empty
sig=short&page=2
s.addEventListener('click', s.removeEventListenerAll)
EAAAA
-----BEGIN PUBLIC KEY-----
Label -----BEGIN RSA PRIVATE KEY----- marks where a key begins
密码是由管理员设置的
令牌:请向管理员索取
Passwort: siehe Tresor
Le mot de passe est dans le coffre
"""


def test_redact_leaves_benign_lines() -> None:
    wrong = [line for line in LINES.splitlines() if judge(f"Before it.\n{line}\nAfter it.\n", "line") != (3, [], [])]
    assert wrong == []


def test_redact_leaves_logs_and_notes() -> None:
    counted = judge(logs(5_000), "logs")
    for name, text in texts(ROOT / "fixtures" / "vault"):
        counted += judge(text, Path(name).name)
    assert (counted.redacted, counted.warned) == ([], [])


def test_redact_changes_hardly_a_line_of_code_and_docs() -> None:
    """At most a line in 10,000 and two more are redacted; for 1 in 1,000 there is a warning."""
    counted = Counted(0, [], [])
    for folder in ("vault_index", "docs"):
        for name, text in texts(ROOT / folder):
            counted += judge(text, str(Path(name).relative_to(ROOT)))
    assert len(counted.redacted) <= 2 + counted.lines // 10_000, counted.redacted
    assert len(counted.warned) <= 2 + counted.lines // 1_000, counted.warned
