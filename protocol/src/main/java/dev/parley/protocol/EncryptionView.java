package dev.parley.protocol;

/// The encryption of a log. `on` is true if new contexts are encrypted. `rotating` is true while keys
/// are wrapped again. `failed` is the number of keys that the last rotation could not wrap again.
public record EncryptionView(
    boolean on, long encrypted, long unencrypted, boolean rotating, long failed) {}
