package dev.parley.http;

import java.net.InetAddress;

/// Where a request comes from: the address of the client, whether it used TLS, and whether the
/// address is known. It is not if a trusted proxy did not name the client: then `address` is that of
/// the proxy, which many clients share.
public record RequestSource(InetAddress address, boolean encrypted, boolean known) {}
