"""What a person types to search: words, phrases and conditions. Everything else is words."""
