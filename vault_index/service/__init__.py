"""Has the daemon started with the session: written as a unit of systemd, or an agent of launchd, and asked about."""
