"""What restorers are compared with: taggers that read words and no trees."""
