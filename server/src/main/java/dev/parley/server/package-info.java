/// The server as a whole: reads the configuration, creates all components and connects them.
@NullMarked
package dev.parley.server;

import org.jspecify.annotations.NullMarked;
