// A sketch for keys of any type: where its counters are, and the engine.
#pragma once

#include <optional>
#include <vector>

#include "cpu/workers.hpp"
#include "sketch/cpu_table.hpp"
#include "sketch/device_table.hpp"
#include "sketch/shape.hpp"

namespace quadmill::detail::sketch {

class Core {
  public:
    Core(std::optional<Context> context, const SketchOptions& options, SketchKeys keys, const char* function);

    void add(const char* function, const Batch& batch, Sign sign);
    void add_texture(const char* function, std::uint32_t keys, std::optional<std::size_t> count, Sign sign);
    void query(const Batch& batch, std::span<SketchCount> counts);
    // Throws as an insert of keys with that sum of weights would before any work.
    void require_room(std::uint64_t more) const {
        require_intact();
        static_cast<void>(n_after("Sketch::insert", more, Sign::Plus));
    }
    void query_texture(std::uint32_t keys, std::uint32_t estimates, std::optional<std::size_t> count);
    void merge(Core& other);
    [[nodiscard]] std::vector<std::byte> save();
    // Pre: nothing was added yet.
    void load(std::span<const std::byte> bytes, const SavedSketch& head);
    [[nodiscard]] std::vector<std::uint64_t> counters();
    [[nodiscard]] std::uint64_t removed_too_often();

    [[nodiscard]] std::uint64_t n() const { return n_; }
    [[nodiscard]] const SketchOptions& options() const { return shape_.options(); }
    [[nodiscard]] SketchEngine ran_on() const { return ran_on_; }
    [[nodiscard]] std::size_t bytes() const;

  private:
    enum class Side { Host, Device, Both };

    [[nodiscard]] std::uint64_t n_after(const char* function, std::uint64_t weight, Sign sign) const;
    [[nodiscard]] SketchEngine engine_for(const Batch& batch, std::uint64_t n) const;
    [[nodiscard]] SketchEngine device_engine() const;
    // An engine that does not blend, instead of one that does, if the driver does not blend exactly. A test drawing
    // finds that out. Throws InvalidArgument if the caller has asked for one that blends.
    enum class Weights { None, Some };
    [[nodiscard]] SketchEngine unless_inexact(const char* function, SketchEngine engine, Weights weights);
    [[nodiscard]] SketchEngine chosen(const DeviceTable& table, SketchEngine usual, std::size_t keys) const;
    CpuTable& cpu_table();
    DeviceTable& on_device();
    void require_device(const char* function) const;
    void require_intact() const;
    // Runs work that changes the device's table, within a session. If it throws, the counters are lost.
    template <class Work>
    void change_device(const char* function, const Work& work);
    // Runs work that reads the device's table. If it throws, counters that are only on the device are lost.
    template <class Work>
    void ask_device(const char* function, const Work& work);
    [[nodiscard]] KeyTexels key_texels() const;
    const gl::Texture& keys_of(const char* function, std::uint32_t keys, std::size_t& count,
                               std::optional<std::size_t> asked);

    std::optional<Context> context_;
    SketchKeys keys_;
    Shape shape_;
    cpu::Workers workers_;
    bool device_can_ = false;     // whether the device can hold the table
    std::optional<bool> blends_;  // whether it adds floats exactly; set by unless_inexact()
    Side side_ = Side::Host;
    std::optional<CpuTable> host_;
    std::optional<DeviceTable> device_;
    gl::Texture keys_copy_;  // copy of the caller's texture
    std::uint64_t n_ = 0;
    SketchEngine ran_on_ = SketchEngine::Cpu;
    bool lost_ = false;
};

}  // namespace quadmill::detail::sketch
