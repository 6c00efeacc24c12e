/// Stores credentials in an encrypted vault, and runs the sign-ins that obtain them. Credentials
/// never enter the log.
@NullMarked
package dev.parley.auth;

import org.jspecify.annotations.NullMarked;
