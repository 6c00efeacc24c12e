/// The program `parley`: the command line, and `serve`.
@NullMarked
package dev.parley.app;

import org.jspecify.annotations.NullMarked;
