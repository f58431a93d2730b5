"""What `import pond` offers: the operations as plain Python."""
