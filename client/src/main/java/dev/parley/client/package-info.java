/// The Java client: what a program needs to talk to a server.
@NullMarked
package dev.parley.client;

import org.jspecify.annotations.NullMarked;
