/// Keeps what people sign in with, and takes part in signing in; none of it ever enters the log.
@NullMarked
package dev.parley.vault;

import org.jspecify.annotations.NullMarked;
