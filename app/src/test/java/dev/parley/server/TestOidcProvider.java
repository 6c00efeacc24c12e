package dev.parley.server;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/// An OpenID provider that issues the token that a test wants, also a forged one.
final class TestOidcProvider implements AutoCloseable {

  /// How often the keys were fetched.
  final AtomicInteger keyRequests = new AtomicInteger();

  private final HttpServer http;
  private volatile List<JWK> published;
  private volatile String token = "";

  TestOidcProvider(JWK... keys) throws IOException {
    published = List.of(keys);
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext("/.well-known/openid-configuration", this::discovery);
    http.createContext("/keys", this::keys);
    http.createContext(
        "/token",
        exchange ->
            reply(
                exchange,
                Json.object().put("id_token", token).put("access_token", "unused").toString()));
    http.start();
  }

  static JWK rsa(String id) throws JOSEException {
    return new RSAKeyGenerator(2048).keyID(id).generate();
  }

  static JWK ec(String id) throws JOSEException {
    return new ECKeyGenerator(Curve.P_256).keyID(id).generate();
  }

  String issuer() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  /// Sets the keys that the provider publishes from now on.
  void publish(JWK... keys) {
    published = List.of(keys);
  }

  /// Sets the token for all codes from now on.
  void issue(String newToken) {
    token = newToken;
  }

  /// A token with these claims, signed with this key under its id.
  static String signed(JWK key, JWTClaimsSet claims) throws JOSEException {
    var ec = key instanceof ECKey;
    JWSSigner signer = ec ? new ECDSASigner(key.toECKey()) : new RSASSASigner(key.toRSAKey());
    var header =
        new JWSHeader.Builder(ec ? JWSAlgorithm.ES256 : JWSAlgorithm.RS256)
            .keyID(key.getKeyID())
            .build();
    var jwt = new SignedJWT(header, claims);
    jwt.sign(signer);
    return jwt.serialize();
  }

  private void discovery(HttpExchange exchange) throws IOException {
    var document = Json.object().put("issuer", issuer());
    document.put("authorization_endpoint", issuer() + "/authorize");
    document.put("token_endpoint", issuer() + "/token");
    document.put("jwks_uri", issuer() + "/keys");
    reply(exchange, document.toString());
  }

  private void keys(HttpExchange exchange) throws IOException {
    keyRequests.incrementAndGet();
    reply(exchange, new JWKSet(published).toPublicJWKSet().toString());
  }

  private static void reply(HttpExchange exchange, String text) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      var bytes = text.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
