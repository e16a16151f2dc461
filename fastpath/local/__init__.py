"""Shared memory for clients on this machine: one page of commands for each client, one area of states for all."""
