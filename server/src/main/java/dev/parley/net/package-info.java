/// Outgoing HTTP requests: the policy for addresses, and calls with a size and time limit.
@NullMarked
package dev.parley.net;

import org.jspecify.annotations.NullMarked;
