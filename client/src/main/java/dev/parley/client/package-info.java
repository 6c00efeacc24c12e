/// The Java client: lets a program use a Parley server.
@NullMarked
package dev.parley.client;

import org.jspecify.annotations.NullMarked;
