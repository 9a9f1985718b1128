try cupel --help
try cupel --version
try cupel check --help
try cupel replay --help
