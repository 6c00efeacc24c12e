/// Encryption of stored data: keys of contexts, the keys that wrap them, and the master key.
@NullMarked
package dev.parley.encryption;

import org.jspecify.annotations.NullMarked;
