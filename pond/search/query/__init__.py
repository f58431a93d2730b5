"""What a person types to search: words, phrases and conditions. Anything that is not meant as more is words."""
