package dev.parley.client;

/// Talks to a server.
///
/// A placeholder: a module may not export a package without types.
public interface Client {}
