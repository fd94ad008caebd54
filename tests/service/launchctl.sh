loaded="$STATE/loaded"
case "$1" in
  print) [ -e "$loaded" ] || { echo "Could not find service" >&2; exit 113; }
         printf 'gui = {\n\tstate = running\n\truns = 3\n\tpid = 4711\n}\n' ;;
  bootstrap) [ ! -e "$loaded" ] || { echo "Bootstrap failed: 5" >&2; exit 5; }; touch "$loaded" ;;
  bootout) rm "$loaded" ;;
esac
