"""The algorithm of the paper: functions of their arguments on arrays, no input or output."""
