// A shared object without the table of a policy plugin.

extern "C" int mdvol_nothing();
int mdvol_nothing() { return 0; }
