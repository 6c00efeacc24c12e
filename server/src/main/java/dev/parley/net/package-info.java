/// Outgoing requests: which addresses may be reached.
@NullMarked
package dev.parley.net;

import org.jspecify.annotations.NullMarked;
