#!/usr/bin/env bash
# The five-minute tour as a program: index the fixture vault and the fixture sessions with the local model, watch them,
# edit a note, find the edit.
# Everything happens in .demo/; nothing of yours is read or written.
set -euo pipefail
vault_index=$(realpath "${1:?usage: tools/demo.sh path/to/vault-index}")
cd "$(dirname "$0")/.."

rm -rf .demo
mkdir .demo
cp -r fixtures/vault .demo/Vault
mkdir -p .demo/share/opencode
cp fixtures/opencode/opencode.db .demo/share/opencode/
unset OPENCODE_DB
export XDG_DATA_HOME=$PWD/.demo/share CLAUDE_CONFIG_DIR=/nonexistent CODEX_HOME=/nonexistent GEMINI_CLI_HOME=/nonexistent
export VAULT_INDEX_HOME=$PWD/.demo/home
started=$SECONDS

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() {
    printf '\033[2m$ vault-index'
    for word in "$@"; do case $word in *\ *) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
    printf '\033[0m\n'
    "$vault_index" --human "$@"
}

say "1. A vault of notes and the sessions of OpenCode become searchable: no key, no server, no network."
run init .demo/Vault

say "2. Ask for what you half remember. None of these words need stand in the note."
run search "what does my bread dough need when the kitchen is cold" --limit 3

say "3. Ask what was said to the agent, and when."
run search "how was the comparison of passwords in app.py fixed" --kind session --limit 1

say "4. Start the daemon. It watches both."
"$vault_index" watch 2> .demo/daemon.log &
daemon=$!
trap 'kill $daemon 2> /dev/null || true; wait $daemon 2> /dev/null || true' EXIT
until "$vault_index" status --json 2> /dev/null | grep -q '"running": *true'; do
    kill -0 $daemon 2> /dev/null || { cat .demo/daemon.log; exit 1; }
    sleep 0.1
done
echo "watching .demo/Vault (process $daemon)"

say "5. Edit a note, as your editor would."
note=".demo/Vault/projects/Home server move.md"
line="The electrician comes on Thursday morning to put a second power circuit into the cellar."
printf '\n## Power\n\n%s\n' "$line" >> "$note"
printf '\033[2m$ tail -1 "%s"\033[0m\n%s\n' "$note" "$(tail -1 "$note")"

say "6. A moment later, a question in other words finds it."
question="new electric circuit in the basement: when"
before=$(date +%s%N)
until "$vault_index" search "$question" --limit 1 --json 2> /dev/null | grep -q electrician; do
    [ $((($(date +%s%N) - before) / 1000000)) -lt 20000 ] || { echo "the edit was not found"; exit 1; }
done
after=$(date +%s%N)
run search "$question" --limit 1
echo "(found $(((after - before) / 1000000)) ms after the edit, with its vector, through the daemon)"

say "7. How it is doing."
run status

printf '\nDone in %d seconds. The demo lies in .demo/; remove it when you like.\n' $((SECONDS - started))
