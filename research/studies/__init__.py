"""What changes with a parameter, and what each part is worth: questions to labelled pages."""
