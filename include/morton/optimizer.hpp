// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace morton {

/// The loss: training makes its mean over the batch small. The Softmax (or LogSoftmax) of a cross
/// entropy of classes, and the Sigmoid of a binary one, belong to the loss: it is computed from
/// what goes into the one at the end of the model, and without one the model's output is that
/// already. Behind the other one's activation neither is computed (UsageError). The losses of
/// errors take the output as it is.
enum class Loss : std::uint8_t {
  softmax_cross_entropy,  ///< targets: labels (i32 [N]), or a share for each class (f32 [N,
                          ///< classes])
  binary_cross_entropy,   ///< of each output, behind a Sigmoid; targets from 0 to 1, of its shape
  mean_squared_error,     ///< of each output; targets of its shape
  mean_absolute_error,    ///< likewise
};

/// How parameters follow their gradients g, at the rate r that each step is given.
struct OptimizerOptions {
  /// - sgd: v = momentum * v + g; p -= r * v, or with Nesterov p -= r * (g + momentum * v)
  ///   (I. Sutskever et al., "On the importance of initialization and momentum in deep learning",
  ///   2013, as PyTorch has it).
  /// - adam: D. Kingma, J. Ba, "Adam: a method for stochastic optimization", 2015.
  /// - adamw: the same, the decay being taken from the parameters (I. Loshchilov, F. Hutter,
  ///   "Decoupled weight decay regularization", 2019).
  /// - rmsprop: s = decay * s + (1 - decay) * g^2; v = momentum * v + g / (sqrt(s) + epsilon);
  ///   p -= r * v (T. Tieleman, G. Hinton, 2012).
  enum class Kind : std::uint8_t { sgd, adam, adamw, rmsprop } kind = Kind::sgd;
  enum class Momentum : std::uint8_t { plain, nesterov } form = Momentum::plain;
  double momentum = 0.0;
  double beta1 = 0.9, beta2 = 0.999;  ///< of adam and adamw
  double decay = 0.99;                ///< of rmsprop
  /// Of adam, adamw and rmsprop: keeps from dividing by 0, so above 0 (as f32 too).
  double epsilon = 1e-8;
  /// Of adamw: p -= r * weight_decay * p. Of the others g += weight_decay * p. Parameters of one
  /// dimension (biases, normalisations) do not decay.
  double weight_decay = 0.0;
};

}  // namespace morton
