"""Run the daemon and `serve` as services of the login session, under systemd or launchd."""
