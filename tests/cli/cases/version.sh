hemstitch -V
hemstitch --version
