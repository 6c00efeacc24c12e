package dev.parley.tool;

import java.math.BigDecimal;
import java.math.MathContext;

/// Evaluates an arithmetic expression by recursive descent. For one thread.
///
/// ```
/// sum     = product { ("+" | "-") product }
/// product = sign { ("*" | "/" | "%") sign }
/// sign    = { "+" | "-" } power
/// power   = atom [ "^" sign ]
/// atom    = number | "(" sum ")"
/// ```
final class ArithmeticExpression {

  private static final int LENGTH_MAX = 1_000;
  private static final int DEPTH_MAX = 100;
  private static final int EXPONENT_MAX = 10_000;
  private static final int SCALE_MAX = 10_000;
  private static final int PLAIN_MAX = 60;

  private final String text;
  private int at;
  private int depth;

  private ArithmeticExpression(String text) {
    this.text = text;
  }

  /// The value, as plain digits where that is readable.
  ///
  /// @throws ArithmeticException if the expression has no value, with the reason
  static String value(String text) {
    if (text.isBlank()) {
      throw new ArithmeticException("the expression is empty");
    }
    if (text.length() > LENGTH_MAX) {
      throw new ArithmeticException("an expression may have at most " + LENGTH_MAX + " characters");
    }
    var arithmeticExpression = new ArithmeticExpression(text);
    var value = arithmeticExpression.sum();
    arithmeticExpression.peek();
    if (arithmeticExpression.at < text.length()) {
      throw arithmeticExpression.unexpected();
    }
    return written(value);
  }

  private static String written(BigDecimal value) {
    var shortest = value.signum() == 0 ? BigDecimal.ZERO : value.stripTrailingZeros();
    var plain = Math.abs((long) shortest.scale()) + shortest.precision() <= PLAIN_MAX;
    return plain ? shortest.toPlainString() : shortest.toString();
  }

  private BigDecimal sum() {
    var value = product();
    while (true) {
      if (take('+')) {
        value = checked(value.add(product(), MathContext.DECIMAL128));
      } else if (take('-')) {
        value = checked(value.subtract(product(), MathContext.DECIMAL128));
      } else {
        return value;
      }
    }
  }

  private BigDecimal product() {
    var value = sign();
    while (true) {
      if (take('*') || take('×')) {
        value = checked(value.multiply(sign(), MathContext.DECIMAL128));
      } else if (take('/') || take('÷')) {
        value = checked(value.divide(divisor(), MathContext.DECIMAL128));
      } else if (take('%')) {
        value = remainder(value, divisor());
      } else {
        return value;
      }
    }
  }

  private BigDecimal divisor() {
    var divisor = sign();
    if (divisor.signum() == 0) {
      throw new ArithmeticException("a number cannot be divided by zero");
    }
    return divisor;
  }

  private static BigDecimal remainder(BigDecimal value, BigDecimal divisor) {
    try {
      return checked(value.remainder(divisor, MathContext.DECIMAL128));
    } catch (ArithmeticException inexact) {
      throw new ArithmeticException("the remainder cannot be computed exactly");
    }
  }

  private BigDecimal sign() {
    var negative = false;
    while (true) {
      if (take('-') || take('−')) {
        negative = !negative;
      } else if (!take('+')) {
        var value = power();
        return negative ? value.negate() : value;
      }
    }
  }

  private BigDecimal power() {
    var base = atom();
    if (!take('^')) {
      return base;
    }
    enter();
    var exponent = sign();
    depth--;
    int whole;
    try {
      whole = exponent.intValueExact();
    } catch (ArithmeticException fraction) {
      throw new ArithmeticException("an exponent must be a whole number");
    }
    if (Math.abs((long) whole) > EXPONENT_MAX) {
      throw new ArithmeticException("an exponent must be at most " + EXPONENT_MAX);
    }
    if (base.signum() == 0 && whole < 0) {
      throw new ArithmeticException("a number cannot be divided by zero");
    }
    return checked(base.pow(whole, MathContext.DECIMAL128));
  }

  private BigDecimal atom() {
    if (take('(')) {
      enter();
      var value = sum();
      depth--;
      if (!take(')')) {
        throw new ArithmeticException("a parenthesis is not closed");
      }
      return value;
    }
    var start = at;
    while (at < text.length() && (digit(text.charAt(at)) || text.charAt(at) == '.')) {
      at++;
    }
    if (start == at) {
      throw unexpected();
    }
    try {
      return new BigDecimal(text.substring(start, at), MathContext.DECIMAL128);
    } catch (NumberFormatException malformed) {
      throw new ArithmeticException("this is not a number: " + text.substring(start, at));
    }
  }

  private void enter() {
    if (++depth > DEPTH_MAX) {
      throw new ArithmeticException("parentheses may be at most " + DEPTH_MAX + " deep");
    }
  }

  private static BigDecimal checked(BigDecimal value) {
    if (Math.abs((long) value.scale()) > SCALE_MAX) {
      throw new ArithmeticException("the number is too large or too small");
    }
    return value;
  }

  private static boolean digit(char c) {
    return c >= '0' && c <= '9';
  }

  private boolean take(char wanted) {
    if (peek() != wanted) {
      return false;
    }
    at++;
    return true;
  }

  /// The next character that is not whitespace; NUL at the end.
  private char peek() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return at < text.length() ? text.charAt(at) : '\0';
  }

  private ArithmeticException unexpected() {
    var c = peek();
    return new ArithmeticException(
        c == '\0' ? "the expression ends too early" : "unexpected character: " + c);
  }
}
