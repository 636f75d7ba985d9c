// Compiled, and never linked: to a reader of .modinfo its object file is a module that stap made of a script with
// globals.
[[gnu::used, gnu::section(".modinfo")]] static const char info[] =
    "name=stap_0123456789abcdef\0vermagic=0.0.0-nowhere SMP\0description=systemtap-generated probe\0"
    "parmtype=stapgen_port:int64_t\0parm=_stp_bufsize:buffer size\0parmtype=_stp_bufsize:int";
