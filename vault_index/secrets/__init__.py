"""What looks like a credential: found before a memory is written, blacked out before a transcript is stored."""
