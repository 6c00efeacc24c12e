/// The program `parley`: its command line, and the command that runs a server.
@NullMarked
package dev.parley.app;

import org.jspecify.annotations.NullMarked;
