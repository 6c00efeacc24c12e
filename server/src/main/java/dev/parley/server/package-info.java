/// The whole server: reads the configuration, builds the parts and joins them.
@NullMarked
package dev.parley.server;

import org.jspecify.annotations.NullMarked;
