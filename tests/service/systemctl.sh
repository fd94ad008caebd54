shift 2
[ "$1" = --quiet ] && shift
unit="$HOME/.config/systemd/user/vault-index.service"
case "$1" in
  show-environment) [ ! -e "$STATE/no-bus" ] || { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
                    echo "LANG=C.UTF-8" ;;
  daemon-reload) if [ -e "$unit" ]; then touch "$STATE/loaded"; else rm -f "$STATE/loaded"; fi ;;
  enable) touch "$STATE/enabled" ;;
  disable) rm -f "$STATE/enabled" "$STATE/active" ;;
  start|restart) [ ! -e "$STATE/broken" ] || { echo "Job for vault-index.service failed." >&2; exit 1; }
                 touch "$STATE/active" ;;
  stop) touch "$STATE/stopped" ;;
  show) case "$*" in *--value) cat "$STATE/broken"; exit ;; esac
        echo "MainPID=$([ -e "$STATE/active" ] && echo 4711 || echo 0)"
        echo "ActiveState=$([ -e "$STATE/active" ] && echo active || echo inactive)"
        echo "LoadState=$([ -e "$STATE/loaded" ] && echo loaded || echo not-found)"
        echo "UnitFileState=$([ -e "$STATE/enabled" ] && echo enabled)"
        echo "StatusText=12 waiting"; echo "NRestarts=1"; echo "MemoryCurrent=18446744073709551615" ;;
esac
