package dev.parley.auth;

import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.crypto.ECDHDecrypter;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.security.SecureRandom;
import java.text.ParseException;
import java.time.Instant;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// The key pair that encrypts a credential for one sign-in (JWE, ECDH-ES on P-256 with A256GCM).
final class OneTimeKey {

  private static final int JWE_MAX = 64 * 1024;

  private final ECKey key;

  private OneTimeKey(ECKey key) {
    this.key = key;
  }

  static OneTimeKey generate(SignInId signInId, SecureRandom random) {
    try {
      return new OneTimeKey(
          new ECKeyGenerator(Curve.P_256)
              .keyUse(KeyUse.ENCRYPTION)
              .algorithm(JWEAlgorithm.ECDH_ES)
              .keyID(signInId.authId().value())
              .secureRandom(random)
              .generate());
    } catch (JOSEException impossible) {
      throw new IllegalStateException("this JVM has no P-256", impossible);
    }
  }

  /// Parses what [#privateText] returned.
  static OneTimeKey parse(String text) {
    try {
      return new OneTimeKey(ECKey.parse(text));
    } catch (ParseException damaged) {
      throw new IllegalStateException("a key in the vault cannot be read");
    }
  }

  /// Returns the key pair, for the vault.
  String privateText() {
    return key.toJSONString();
  }

  /// Returns the public key as a JWK.
  ObjectNode publicJson() {
    return Json.object().setAll(tree(key.toPublicJWK().toJSONString()).orElseThrow());
  }

  /// Returns the credential in `jwe`.
  ///
  /// @throws Rejection.Invalid if the JWE is for another sign-in or has expired; the message
  ///     contains nothing of its content
  String decrypt(String jwe, SignInId signInId, Instant now) {
    var claims = claims(jwe).orElseThrow(() -> invalid("decryption failed"));
    if (!claims.path("authId").asString("").equals(signInId.authId().value())
        || !claims.path("contextId").asString("").equals(signInId.contextId().value())) {
      throw invalid("authId and contextId belong to another sign-in");
    }
    var expires = claims.path("exp");
    if (!expires.isNumber() || expires.asDouble() <= now.getEpochSecond()) {
      throw invalid("exp is missing or in the past");
    }
    return claims.path("credential").asString("");
  }

  private Optional<ObjectNode> claims(String jwe) {
    if (jwe.length() > JWE_MAX) {
      return Optional.empty();
    }
    try {
      var parsed = JWEObject.parse(jwe);
      var header = parsed.getHeader();
      // Compressed content is rejected, because it may expand to much more than the limit.
      if (!JWEAlgorithm.ECDH_ES.equals(header.getAlgorithm())
          || !EncryptionMethod.A256GCM.equals(header.getEncryptionMethod())
          || header.getCompressionAlgorithm() != null) {
        return Optional.empty();
      }
      parsed.decrypt(new ECDHDecrypter(key));
      return tree(parsed.getPayload().toString());
    } catch (ParseException | JOSEException | IllegalStateException unusable) {
      return Optional.empty();
    }
  }

  private static Optional<ObjectNode> tree(String json) {
    try {
      return Optional.of(
          Json.read(json.getBytes(java.nio.charset.StandardCharsets.UTF_8), ObjectNode.class));
    } catch (Rejection.Invalid notAnObject) {
      return Optional.empty();
    }
  }

  private static Rejection invalid(String why) {
    return new Rejection.Invalid("invalid-credential", "the JWE is rejected: " + why);
  }
}
