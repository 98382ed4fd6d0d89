"""Docs <-> trees and slots."""
