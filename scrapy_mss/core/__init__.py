"""The algorithm: functions of their arguments on strings and arrays, no input or output."""
