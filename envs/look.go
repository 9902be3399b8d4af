package envs

// suiteLook holds the materials that the models of the DeepMind Control Suite
// share (dm_control/suite/common/materials.xml): names and colours, without the
// textures, which a renderer draws by itself ("grid" is a chequered floor of
// (.1, .2, .3) and (.2, .3, .4)). It does not affect the physics.
const suiteLook = `
  <asset>
    <material name="grid" rgba=".15 .25 .35 1" texuniform="true" reflectance=".2"/>
    <material name="self" rgba=".7 .5 .3 1"/>
    <material name="effector" rgba=".7 .4 .2 1"/>
    <material name="decoration" rgba=".3 .5 .7 1"/>
    <material name="eye" rgba="0 .2 1 1"/>
    <material name="target" rgba=".6 .3 .3 1"/>
    <material name="site" rgba=".5 .5 .5 .3"/>
  </asset>`
