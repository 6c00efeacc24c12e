package dev.parley.identity.oidc;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import org.jspecify.annotations.Nullable;

/// Verifies ID tokens (OpenID Connect Core, 3.1.3.7): signature, issuer, audience, times and nonce.
///
/// The algorithm must fit the type of the key, so a public key never becomes the secret of an HMAC.
final class IdTokenVerifier {

  private static final Duration CLOCK_SKEW = Duration.ofMinutes(1);
  private static final int RSA_BITS_MIN = 2_048;
  private static final int SUBJECT_MAX = 255;

  private final OidcSettings settings;
  private final OidcProvider provider;

  IdTokenVerifier(OidcSettings settings, OidcProvider provider) {
    this.settings = settings;
    this.provider = provider;
  }

  /// The claims of a valid token, which was issued for the flow with this nonce.
  ///
  /// @param startedAt when the flow began; the token must not be older
  /// @throws SignInRefused if the token is not valid
  JWTClaimsSet verify(String token, String nonce, Instant startedAt, Instant now) {
    try {
      var parsed = SignedJWT.parse(token);
      checkSignature(parsed);
      var claims = parsed.getJWTClaimsSet();
      checkParties(claims);
      checkTimes(claims, startedAt, now);
      var given = claims.getStringClaim("nonce");
      if ((given == null) || !sameText(given, nonce)) {
        throw new SignInRefused("wrong-nonce", "the ID token belongs to another sign-in");
      }
      return claims;
    } catch (ParseException malformed) {
      throw new SignInRefused("wrong-token", "the ID token is not a signed token");
    }
  }

  private static boolean sameText(String given, String expected) {
    return MessageDigest.isEqual(
        given.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8));
  }

  private void checkSignature(SignedJWT token) {
    var header = token.getHeader();
    var algorithm = header.getAlgorithm();
    if (!JWSAlgorithm.RS256.equals(algorithm) && !JWSAlgorithm.ES256.equals(algorithm)) {
      throw new SignInRefused("wrong-algorithm", "the ID token must use RS256 or ES256");
    }
    if ((header.getType() != null) && !JOSEObjectType.JWT.equals(header.getType())) {
      throw new SignInRefused("wrong-token", "the ID token has another type than JWT");
    }
    var keys =
        provider.keys(header.getKeyID()).stream().filter(key -> fits(key, algorithm)).toList();
    if (keys.size() != 1) {
      throw new SignInRefused("unknown-key", "the provider has no such key for the ID token");
    }
    try {
      if (!token.verify(verifier(keys.getFirst()))) {
        throw new SignInRefused("wrong-signature", "the signature of the ID token is not valid");
      }
    } catch (JOSEException unusable) {
      throw new SignInRefused("wrong-signature", "the signature of the ID token is not valid");
    }
  }

  private static boolean fits(JWK key, JWSAlgorithm algorithm) {
    var allowed =
        ((key.getKeyUse() == null) || KeyUse.SIGNATURE.equals(key.getKeyUse()))
            && ((key.getAlgorithm() == null) || algorithm.equals(key.getAlgorithm()));
    return allowed
        && switch (key) {
          case RSAKey rsa -> JWSAlgorithm.RS256.equals(algorithm) && (rsa.size() >= RSA_BITS_MIN);
          case ECKey ec ->
              JWSAlgorithm.ES256.equals(algorithm) && Curve.P_256.equals(ec.getCurve());
          default -> false;
        };
  }

  private static JWSVerifier verifier(JWK key) throws JOSEException {
    return key instanceof RSAKey rsa
        ? new RSASSAVerifier(rsa.toRSAPublicKey())
        : new ECDSAVerifier(key.toECKey().toECPublicKey());
  }

  private void checkParties(JWTClaimsSet claims) throws ParseException {
    if (!settings.issuer().equals(claims.getIssuer())) {
      throw new SignInRefused("wrong-issuer", "the ID token is from another issuer");
    }
    var audience = claims.getAudience();
    var azp = claims.getStringClaim("azp");
    if (!audience.contains(settings.clientId())
        || ((audience.size() > 1) && (azp == null))
        || ((azp != null) && !azp.equals(settings.clientId()))) {
      throw new SignInRefused("wrong-audience", "the ID token is for another client");
    }
    var subject = claims.getSubject();
    if ((subject == null) || subject.isBlank() || (subject.length() > SUBJECT_MAX)) {
      throw new SignInRefused("wrong-subject", "the ID token does not say who signs in");
    }
  }

  private static void checkTimes(JWTClaimsSet claims, Instant startedAt, Instant now) {
    var expires = instant(claims.getExpirationTime());
    if ((expires == null) || !now.minus(CLOCK_SKEW).isBefore(expires)) {
      throw new SignInRefused("token-expired", "the ID token has expired; check the clocks");
    }
    var issued = instant(claims.getIssueTime());
    if ((issued == null)
        || issued.isAfter(now.plus(CLOCK_SKEW))
        || issued.isBefore(startedAt.minus(CLOCK_SKEW))) {
      throw new SignInRefused(
          "wrong-issue-time", "the ID token was not issued for this sign-in; check the clocks");
    }
    var begins = instant(claims.getNotBeforeTime());
    if ((begins != null) && begins.isAfter(now.plus(CLOCK_SKEW))) {
      throw new SignInRefused("wrong-issue-time", "the ID token is not valid yet");
    }
  }

  private static @Nullable Instant instant(@Nullable Date date) {
    return date == null ? null : date.toInstant();
  }
}
