/// Time and threads as ports: every wait and every thread of the server goes through this package.
@NullMarked
package dev.parley.runtime;

import org.jspecify.annotations.NullMarked;
