"""Tests of remote sources against real servers on loopback."""
