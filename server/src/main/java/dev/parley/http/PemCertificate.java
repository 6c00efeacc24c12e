package dev.parley.http;

import dev.parley.protocol.Rejection;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/// A certificate chain, the server's certificate first, and its private key.
record PemCertificate(List<X509Certificate> chain, PrivateKey key) {

  private static final int BYTES_MAX = 1 << 20;
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\\s]+)-----END \\1-----");
  private static final String CERTIFICATE = "CERTIFICATE";
  private static final String KEY = "PRIVATE KEY";
  private static final byte[] CHALLENGE = "parley".getBytes(StandardCharsets.US_ASCII);

  PemCertificate {
    chain = List.copyOf(chain);
  }

  /// Reads PEM files. Other blocks in them are ignored, so both may be the same file.
  ///
  /// @throws Rejection.Invalid if they cannot be used; the message says why
  static PemCertificate read(Path certificate, Path key) {
    var chain = new ArrayList<X509Certificate>();
    for (var block : blocks(certificate)) {
      if (block.group(1).equals(CERTIFICATE)) {
        chain.add(certificate(certificate, decode(certificate, block)));
      }
    }
    if (chain.isEmpty()) {
      throw new Rejection.Invalid(certificate + " contains no certificate in PEM format");
    }
    var privateKey = key(key, chain.getFirst().getPublicKey().getAlgorithm());
    if (!matches(privateKey, chain.getFirst().getPublicKey())) {
      throw new Rejection.Invalid(
          "the key in " + key + " is not that of the first certificate in " + certificate);
    }
    return new PemCertificate(chain, privateKey);
  }

  private static List<MatchResult> blocks(Path file) {
    try {
      if (Files.size(file) > BYTES_MAX) {
        throw new Rejection.Invalid(file + " is too large for a PEM file");
      }
      return BLOCK.matcher(Files.readString(file, StandardCharsets.ISO_8859_1)).results().toList();
    } catch (IOException unreadable) {
      throw new Rejection.Invalid(file + " cannot be read: " + unreadable);
    }
  }

  private static byte[] decode(Path file, MatchResult block) {
    try {
      return Base64.getMimeDecoder().decode(block.group(2));
    } catch (IllegalArgumentException malformed) {
      throw new Rejection.Invalid(file + " contains malformed base64");
    }
  }

  private static X509Certificate certificate(Path file, byte[] bytes) {
    try {
      return (X509Certificate)
          CertificateFactory.getInstance("X.509")
              .generateCertificate(new ByteArrayInputStream(bytes));
    } catch (CertificateException malformed) {
      throw new Rejection.Invalid(
          file + " contains a malformed certificate: " + malformed.getMessage());
    }
  }

  private static PrivateKey key(Path file, String algorithm) {
    var found = "";
    for (var block : blocks(file)) {
      if (block.group(1).equals(KEY)) {
        try {
          return KeyFactory.getInstance(algorithm)
              .generatePrivate(new PKCS8EncodedKeySpec(decode(file, block)));
        } catch (InvalidKeySpecException other) {
          throw new Rejection.Invalid(
              "the key in " + file + " is not of the certificate's kind, " + algorithm);
        } catch (GeneralSecurityException unknown) {
          throw new Rejection.Invalid("keys of the kind " + algorithm + " are not supported");
        }
      }
      if (block.group(1).endsWith(KEY)) {
        found = block.group(1);
      }
    }
    throw new Rejection.Invalid(
        found.isEmpty()
            ? file + " contains no private key in PEM format"
            : "%s contains an %s; convert it: openssl pkcs8 -topk8 -nocrypt -in %s -out NEW_FILE"
                .formatted(file, found, file));
  }

  private static boolean matches(PrivateKey key, PublicKey certified) {
    var algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> key.getAlgorithm();
        };
    try {
      var signature = Signature.getInstance(algorithm);
      signature.initSign(key);
      signature.update(CHALLENGE);
      var signed = signature.sign();
      signature.initVerify(certified);
      signature.update(CHALLENGE);
      return signature.verify(signed);
    } catch (GeneralSecurityException otherKind) {
      return false;
    }
  }
}
