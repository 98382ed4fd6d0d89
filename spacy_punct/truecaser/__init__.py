"""The component `truecaser`."""
