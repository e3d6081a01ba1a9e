"""Pages as a browser draws them: boxes, fonts and colours of their elements, kept in files."""
